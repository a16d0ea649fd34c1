"use strict";
// The facts of the run, and what to beware of.

(() => {
  const { data, $, element, whole, decimal, percent } = page;

  const { summary, clusters, unit } = data;

  const { seconds, similarities } = summary;
  const saved = similarities.saved_share;
  const shown = [
    [
      unit === "rows" ? "Rows" : "Documents",
      whole(summary.rows),
      `${whole(summary.features)} ${unit === "rows" ? "features" : "terms"}`,
    ],
    [
      "Clusters (k)",
      whole(summary.k),
      `${whole(clusters.filter((c) => c.size).length)}${summary.k > clusters.length ? " largest" : ""} with ${unit}`,
    ],
    [
      "Objective",
      summary.objective.toLocaleString("en-US", { maximumFractionDigits: 1 }),
      `sum of cosines; mean ${decimal(summary.mean_cosine, 4)}`,
    ],
    [
      "Iterations",
      whole(summary.iterations),
      { "max-iter": "stopped at --max-iter", cycle: "came back to labels it had" }[
        summary.stopped
      ] ?? summary.stopped,
    ],
    [
      "Time",
      `${seconds.fit.toFixed(seconds.fit < 10 ? 2 : 0)} s`,
      seconds.read === null
        ? "for the fit"
        : `for the fit; ${seconds.read.toFixed(seconds.read < 10 ? 2 : 0)} s to read`,
    ],
    [
      "Similarities saved",
      percent(saved),
      `${whole(similarities.computed)} computed of ${whole(similarities.of_all_pairs)}`,
    ],
  ];
  $("facts").replaceChildren(
    ...shown.map(([title, value, more]) =>
      element(
        "div",
        {},
        element("dt", { textContent: title }),
        element("dd", { textContent: value }, element("small", { textContent: more })),
      ),
    ),
  );
  $("source").textContent = summary.source;
  $("created").textContent = summary.created;
  const warnings = [];
  if (summary.interrupted)
    warnings.push(
      `The fit was interrupted: this is the result so far, after ${summary.iterations} iterations (${summary.stopped}).`,
    );
  if (summary.stopped === "max-iter")
    warnings.push(
      `The run stopped at its limit of ${summary.options.max_iter} iterations and has not converged.`,
    );
  if (summary.rows_without_label)
    warnings.push(
      `${whole(summary.rows_without_label)} ${unit} have no ${unit === "rows" ? "direction (all zero)" : "terms"} and belong to no cluster.`,
    );
  if (summary.k > clusters.length)
    warnings.push(
      `This page shows the ${whole(clusters.length)} largest of ${whole(summary.k)} clusters; clusters.json has all.`,
    );
  $("warning").textContent = warnings.join(" ");
  $("warning").classList.toggle("hidden", !warnings.length);
})();
