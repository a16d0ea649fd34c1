"""The command ``arcmeans``: its parts, and how each way of ending becomes an exit code."""

import os
import sys
from contextlib import suppress
from importlib.metadata import version

import click
from click.shell_completion import get_completion_class

from .choose import choose_k
from .cluster import cluster
from .console import Console, PipeClosedError, UserError
from .demo import demo
from .explain import explain
from .info import info
from .predict import predict

DONE, FAILED, USAGE, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 130, 141
SHELLS = ("bash", "zsh", "fish")


@click.group(
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Each command has more to say: arcmeans cluster --help. "
    "Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.",
)
@click.version_option(version("arcmeans"), prog_name="arcmeans", message="%(prog)s %(version)s")
@click.pass_context
def arcmeans(context: click.Context) -> None:
    """Cluster texts or a matrix by cosine, exactly, and see what is in the clusters.

    \b
    Examples:
      arcmeans cluster notes/ -k 20 -o topics     a folder of text files
      arcmeans cluster mails.csv --text body -k 50 -o topics
      arcmeans predict topics new.csv --text body
      arcmeans choose-k notes/ --from 2 --to 40
      arcmeans demo                               nothing at hand? try this
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help(), err=True)
        context.exit(USAGE)


@arcmeans.command()
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the completion script of a shell.

    \b
    Examples:
      eval "$(arcmeans completion bash)"          in ~/.bashrc
      eval "$(arcmeans completion zsh)"           in ~/.zshrc
      arcmeans completion fish > ~/.config/fish/completions/arcmeans.fish
    """
    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(arcmeans, {}, "arcmeans", "_ARCMEANS_COMPLETE").source())


for command in (cluster, predict, choose_k, explain, info, demo):
    arcmeans.add_command(command)


def run(arguments: list[str] | None = None) -> int:
    """Runs a command; returns the exit code."""
    try:
        code = arcmeans.main(arguments, prog_name="arcmeans", standalone_mode=False)
        sys.stdout.flush()
        return int(code or DONE)
    except click.ClickException as error:
        error.show()
        return USAGE if isinstance(error, click.UsageError) else FAILED
    except (KeyboardInterrupt, click.Abort):
        Console().error("interrupted.")
        return INTERRUPTED
    except (PipeClosedError, BrokenPipeError):
        _drop_output()  # the reader has seen enough
        return BROKEN_PIPE
    except (UserError, ValueError, ImportError, MemoryError) as error:
        Console().error(str(error) or "out of memory.")
        return FAILED
    except OSError as error:
        _drop_output()
        where = "standard output" if error.filename is None else error.filename
        Console().error(f"{where}: {error.strerror or error}")
        return FAILED


def _drop_output() -> None:
    """What is still buffered must not fail once more at exit."""
    with suppress(OSError, ValueError):  # no such descriptor, as under a test
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
