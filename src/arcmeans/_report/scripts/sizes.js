"use strict";
// All clusters side by side: their sizes, and the similarities within them.

(() => {
  const { data, whole, decimal, percent, color, hue, axis } = page;
  const { firstTerms } = report;

  const { clusters, unit } = data;
  const perCluster = (extra) => ({
    onClick: (_, found) => found.length && report.choose(found[0].index),
    interaction: { mode: "index", intersect: false },
    ...extra,
  });
  const clusterAxis = () =>
    axis("cluster, the largest first", {
      grid: { display: false },
      ticks: { autoSkip: true, maxRotation: 0 },
    });
  const titled = {
    title: ([item]) =>
      item && `Cluster ${clusters[item.dataIndex].label}: ${firstTerms(item.dataIndex, 5)}`,
  };

  function sizesConfig() {
    return {
      type: "bar",
      data: {
        labels: clusters.map((c) => c.label),
        datasets: [
          {
            data: clusters.map((c) => c.size),
            backgroundColor: clusters.map((_, i) => hue(i, report.faded(i) ? 0.35 : 0.9)),
            categoryPercentage: 0.9,
          },
        ],
      },
      options: perCluster({
        scales: { x: clusterAxis(), y: axis(unit, { min: 0, ticks: { precision: 0 } }) },
        plugins: {
          tooltip: {
            callbacks: {
              ...titled,
              label: (item) =>
                `${whole(item.raw)} ${unit}, ${percent(clusters[item.dataIndex].share)}`,
            },
          },
        },
      }),
    };
  }

  function spreadConfig() {
    const shown = clusters.map((c) => c.quantiles);
    const tint = (alpha) => clusters.map((_, i) => hue(i, report.faded(i) ? alpha / 3 : alpha));
    return {
      type: "bar",
      data: {
        labels: clusters.map((c) => c.label),
        datasets: [
          {
            type: "line",
            data: shown.map((q) => q && q[2]),
            showLine: false,
            pointStyle: "rectRot",
            pointRadius: 4,
            pointBackgroundColor: color("ink"),
            pointBorderWidth: 0,
          },
          {
            data: shown.map((q) => q && [q[1], q[3]]),
            backgroundColor: tint(0.85),
            grouped: false,
            categoryPercentage: 0.75,
          },
          {
            data: shown.map((q) => q && [q[0], q[4]]),
            backgroundColor: tint(0.4),
            grouped: false,
            categoryPercentage: 0.25,
          },
        ],
      },
      options: perCluster({
        scales: { x: clusterAxis(), y: axis("cosine", { min: data.bins[0], max: 1 }) },
        plugins: {
          tooltip: {
            filter: (item) => item.datasetIndex === 0,
            callbacks: {
              ...titled,
              label: (item) => {
                const q = shown[item.dataIndex];
                if (!q) return "no rows";
                return [
                  `median ${decimal(q[2])}`,
                  `half within ${decimal(q[1])} to ${decimal(q[3])}`,
                  `nine in ten within ${decimal(q[0])} to ${decimal(q[4])}`,
                ];
              },
            },
          },
        },
      }),
    };
  }

  report.chart(
    "sizes",
    `Sizes of the clusters, from ${whole(clusters[0].size)} down to ${whole(clusters.at(-1).size)} ${unit}.`,
    sizesConfig,
  );
  report.chart("spread", "Quantiles of the similarities within each cluster.", spreadConfig);
})();
