def supported() -> list[str]:
    """Instruction sets this processor runs, lowest first: the names of the core modules."""
