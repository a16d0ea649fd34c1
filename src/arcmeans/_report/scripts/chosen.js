"use strict";
// The cluster chosen: its terms, its typical rows, and how similar its rows are to its center.

(() => {
  const { data, $, element, whole, decimal, percent, color, hue, axis } = page;
  const { name, counted, firstTerms } = report;

  const { clusters, unit } = data;

  function panel() {
    const box = $("detail");
    $("chosen").value = report.chosen === null ? "" : String(report.chosen);
    if (report.chosen === null) {
      box.replaceChildren(
        element("p", {
          className: "note",
          textContent: "None chosen: the histogram shows all of them together.",
        }),
      );
    } else {
      const c = clusters[report.chosen];
      const line =
        `${counted(c.size)} (${percent(c.share)}), cohesion ${decimal(c.cohesion)}` +
        (c.nearest === null
          ? ""
          : `, separation ${decimal(c.separation)} from cluster ${c.nearest}`);
      box.replaceChildren(
        element("p", { className: "note", textContent: line }),
        report.terms(c.descriptive),
        element("h3", { textContent: `Typical ${unit}` }),
        report.listed(c.typical.slice(0, 3)),
      );
    }
    const n = (report.chosen === null ? data.all : clusters[report.chosen]).histogram.reduce(
      (a, b) => a + b,
      0,
    );
    $("histogram-note").textContent =
      `Cosine to the own center: ${report.chosen === null ? "all clusters" : name(report.chosen)}, ${counted(n)}. Bars begin at 0.`;
    $("histogram").setAttribute("aria-label", `Histogram. ${$("histogram-note").textContent}`);
  }

  function histogramConfig() {
    const shown = report.chosen === null ? data.all : clusters[report.chosen];
    const total = Math.max(
      1,
      shown.histogram.reduce((a, b) => a + b, 0),
    );
    const width = data.bins[1] - data.bins[0];
    return {
      type: "bar",
      data: {
        datasets: [
          {
            data: shown.histogram.map((n, i) => ({ x: data.bins[i] + width / 2, y: n / total })),
            backgroundColor: report.chosen === null ? color("accent") : hue(report.chosen),
            barPercentage: 1,
            categoryPercentage: 0.94,
          },
        ],
      },
      options: {
        scales: {
          x: axis("cosine", {
            type: "linear",
            min: data.bins[0],
            max: 1,
            offset: false,
            grid: { display: false },
          }),
          y: axis(`share of ${unit}`, { min: 0, ticks: { callback: percent, maxTicksLimit: 5 } }),
        },
        plugins: {
          tooltip: {
            callbacks: {
              title: ([item]) =>
                item &&
                `${decimal(data.bins[item.dataIndex], 3)} to ${decimal(data.bins[item.dataIndex + 1], 3)}`,
              label: (item) => `${whole(shown.histogram[item.dataIndex])} ${unit}`,
            },
          },
        },
      },
    };
  }

  $("chosen").append(
    element("option", { value: "", textContent: "all" }),
    ...clusters.map((c, i) =>
      element("option", {
        value: String(i),
        textContent: `${c.label}: ${firstTerms(i, 3)}`.slice(0, 60),
      }),
    ),
  );
  $("chosen").addEventListener("change", (event) =>
    report.choose(event.target.value === "" ? null : Number(event.target.value)),
  );
  report.onChoice(panel);
  panel();
  report.chart("histogram", $("histogram").getAttribute("aria-label"), histogramConfig);
})();
