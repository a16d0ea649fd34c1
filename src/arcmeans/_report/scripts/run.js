"use strict";
// The run, iteration by iteration.

(() => {
  const { data, $, color, chart, axis } = page;

  const { trace } = data;

  function lineConfig(title, values, options, more = []) {
    const single = values.length < 40;
    return () => ({
      type: "line",
      data: {
        labels: values.map((_, i) => i + 1),
        datasets: [
          {
            data: values,
            borderColor: color("accent"),
            backgroundColor: color("accent"),
            pointRadius: single ? 2.5 : 0,
            pointHitRadius: 12,
            borderWidth: 2,
          },
          ...more.map((value) => ({
            data: values.map(() => value),
            borderColor: color("soft"),
            borderDash: [5, 4],
            borderWidth: 1.5,
            pointRadius: 0,
          })),
        ],
      },
      options: {
        interaction: { mode: "index", intersect: false },
        scales: {
          x: axis("iteration", {
            grid: { display: false },
            ticks: { autoSkip: true, maxRotation: 0 },
          }),
          y: axis(title, options),
        },
        plugins: {
          tooltip: {
            filter: (item) => item.datasetIndex === 0,
            callbacks: {
              title: ([item]) => item && `Iteration ${item.label}`,
              label: (item) =>
                `${title} ${item.raw.toLocaleString("en-US", { maximumFractionDigits: 6 })}`,
            },
          },
        },
      },
    });
  }

  const means = trace.mean_cosine;
  const [low, high] = [Math.min(...means), Math.max(...means)];
  $("trace-mean-note").textContent =
    `Mean cosine, ${low.toFixed(4)} to ${high.toFixed(4)}; the axis does not begin at 0`;
  chart(
    "trace-mean",
    `Mean cosine by iteration, from ${low.toFixed(4)} to ${high.toFixed(4)}.`,
    lineConfig("mean cosine", means, { ticks: { maxTicksLimit: 6 } }),
  );
  chart(
    "trace-changed",
    "Rows that changed cluster, by iteration.",
    lineConfig("changed", trace.changed, { min: 0, ticks: { maxTicksLimit: 6, precision: 0 } }),
  );
  chart(
    "trace-work",
    "Similarities computed, by iteration.",
    lineConfig("similarities", trace.similarities, { min: 0, ticks: { maxTicksLimit: 6 } }, [
      trace.all_pairs,
    ]),
  );
})();
