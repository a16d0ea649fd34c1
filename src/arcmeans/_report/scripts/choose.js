"use strict";
// The measures of several k, each in a chart of its own.

(() => {
  const { data, $, element, whole, color, chart, axis } = page;
  const { table, metrics } = data;
  const words = (name) => name.replaceAll("_", " ");
  const short = (x) =>
    x === null ? "–" : x.toLocaleString("en-US", { maximumSignificantDigits: 4 });

  $("source").textContent = data.source;
  $("about").textContent =
    `${whole(data.rows)} ${data.unit}, clustered for each k. Larger is better except for inertia, which every cluster more makes smaller, so that it cannot choose. A ring marks the largest value.`;

  for (const name of [...metrics, "inertia"]) {
    const values = table[name];
    const known = values.filter((v) => v !== null);
    const best = metrics.includes(name) && known.length ? values.indexOf(Math.max(...known)) : -1;
    const negative = known.some((v) => v < 0);
    const id = `chart-${name}`;
    const note = `${words(name)}${best < 0 ? "" : `: largest at k = ${table.k[best]}`}. ${negative ? "The axis shows 0." : "The axis begins at 0."}`;
    $("charts").append(
      element(
        "figure",
        {},
        element("figcaption", { textContent: note }),
        element("div", { className: "chart" }, element("canvas", { id })),
      ),
    );
    $(id).setAttribute("role", "img");
    chart(id, note, () => ({
      type: "line",
      data: {
        datasets: [
          {
            data: values.map((y, i) => ({ x: table.k[i], y })),
            borderColor: color("accent"),
            backgroundColor: color("accent"),
            borderWidth: 2,
            pointRadius: values.map((_, i) => (i === best ? 8 : 3)),
            pointBackgroundColor: values.map((_, i) =>
              i === best ? color("card") : color("accent"),
            ),
            pointBorderColor: values.map((_, i) => (i === best ? color("mark") : color("accent"))),
            pointBorderWidth: values.map((_, i) => (i === best ? 3 : 0)),
            pointHitRadius: 12,
          },
        ],
      },
      options: {
        interaction: { mode: "nearest", axis: "x", intersect: false },
        scales: {
          x: axis("k, number of clusters", {
            type: "linear",
            ticks: { precision: 0 },
            grid: { display: false },
          }),
          y: axis(words(name), { beginAtZero: true }),
        },
        plugins: {
          tooltip: {
            callbacks: {
              title: ([item]) => item && `k = ${item.raw.x}`,
              label: (item) => `${words(name)} ${short(item.raw.y)}`,
            },
          },
        },
      },
    }));
  }

  const names = Object.keys(table);
  document
    .querySelector("#table thead tr")
    .append(
      ...names.map((name) =>
        element("th", { scope: "col", className: "number", textContent: words(name) }),
      ),
    );
  document
    .querySelector("#table tbody")
    .append(
      ...table.k.map((_, i) =>
        element(
          "tr",
          {},
          ...names.map((name) =>
            element("td", { className: "number", textContent: short(table[name][i]) }),
          ),
        ),
      ),
    );
})();
