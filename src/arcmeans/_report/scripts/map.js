"use strict";
// The map of centers and rows: pointing tells, a click or an arrow key chooses.

(() => {
  const { data, $, whole, decimal, percent, color, hue, wrapped } = page;
  const { one, name, counted, firstTerms } = report;

  const { clusters, unit } = data;
  const rows = data.map.rows;
  const crowd = Math.max(0.55, Math.min(1, Math.sqrt(50 / Math.max(1, data.map.centers.length))));
  const scale = () => crowd * Math.min(1, Math.max(0.6, $("map").parentElement.clientWidth / 600));
  const radius = (i) =>
    scale() * (4 + 10 * Math.sqrt((clusters[i].size || 0) / (clusters[0].size || 1)));

  const labels = {
    id: "labels",
    // The number and first term of each center, the largest first, where there is room.
    afterDatasetsDraw(drawn) {
      const { ctx, chartArea } = drawn;
      const points = drawn.getDatasetMeta(1).data;
      const taken = [];
      const order = points.map((_, i) => i);
      if (report.chosen !== null && points[report.chosen]) order.unshift(report.chosen);
      ctx.save();
      ctx.font = `600 12px ${Chart.defaults.font.family}`;
      ctx.textBaseline = "middle";
      ctx.lineWidth = 3;
      ctx.lineJoin = "round";
      ctx.strokeStyle = color("card");
      for (const i of order) {
        const text = `${clusters[i].label} ${(clusters[i].descriptive[0] || [""])[0]}`.slice(0, 24);
        const width = ctx.measureText(text).width;
        const gap = radius(i) + 4;
        const left =
          points[i].x + gap + width > chartArea.right
            ? points[i].x - gap - width
            : points[i].x + gap;
        const box = [left - 2, points[i].y - 8, left + width + 2, points[i].y + 8];
        if (
          box[0] < 0 ||
          taken.some((t) => t[0] < box[2] && box[0] < t[2] && t[1] < box[3] && box[1] < t[3])
        )
          continue;
        taken.push(box);
        ctx.fillStyle = report.faded(i) ? color("soft") : color("ink");
        ctx.strokeText(text, left, points[i].y);
        ctx.fillText(text, left, points[i].y);
      }
      ctx.restore();
    },
  };

  // One unit is as long across as it is up, and the centers fill the frame.
  const reach = [0, 1].map((a) => Math.max(0.05, ...data.map.centers.map((c) => Math.abs(c[a]))));
  function limits(width, height) {
    const w = Math.max(1, width - Math.min(90, width / 6)); // room for dots and labels at the edge
    const h = Math.max(1, height - Math.min(50, height / 6));
    const perPixel = Math.max(reach[0] / w, reach[1] / h);
    return { x: perPixel * width, y: perPixel * height };
  }

  function mapConfig() {
    const box = $("map").parentElement;
    const { x, y } = limits(box.clientWidth, box.clientHeight);
    const hidden = (most) => ({ display: false, min: -most, max: most });
    return {
      type: "scatter",
      data: {
        datasets: [
          {
            data: rows.map((r) => ({ x: r[0], y: r[1] })),
            pointRadius: rows.map((r) => (report.chosen === r[2] ? 4 : 2.6)),
            pointHoverRadius: 6,
            pointBackgroundColor: rows.map((r) => hue(r[2], report.faded(r[2]) ? 0.1 : 0.6)),
            pointBorderWidth: 0,
            order: 1,
          },
          {
            data: data.map.centers.map(([cx, cy]) => ({ x: cx, y: cy })),
            pointRadius: data.map.centers.map((_, i) => radius(i)),
            pointHoverRadius: data.map.centers.map((_, i) => radius(i) + 2),
            pointBackgroundColor: data.map.centers.map((_, i) =>
              hue(i, report.faded(i) ? 0.3 : 0.95),
            ),
            pointBorderColor: color("card"),
            pointBorderWidth: 2,
          },
        ],
      },
      options: {
        layout: { padding: 4 },
        scales: { x: hidden(x), y: hidden(y) },
        interaction: { mode: "nearest", intersect: true },
        onResize(resized, size) {
          const most = limits(size.width, size.height);
          Object.assign(resized.options.scales.x, { min: -most.x, max: most.x });
          Object.assign(resized.options.scales.y, { min: -most.y, max: most.y });
        },
        onClick(_, found) {
          if (!found.length) return report.choose(null);
          const { datasetIndex, index } = found.find((f) => f.datasetIndex === 1) ?? found[0];
          report.choose(datasetIndex === 1 ? index : rows[index][2]);
        },
        plugins: {
          tooltip: {
            // Of all that lies here the center, or else one row.
            filter: (item, i, items) =>
              items.some((other) => other.datasetIndex === 1) ? item.datasetIndex === 1 : i === 0,
            callbacks: {
              title: ([item]) =>
                item &&
                (item.datasetIndex === 1
                  ? `Cluster ${clusters[item.dataIndex].label}`
                  : wrapped(rows[item.dataIndex][3], 58, 2)),
              label: (item) =>
                item.datasetIndex === 1
                  ? tipOfCluster(item.dataIndex)
                  : tipOfRow(rows[item.dataIndex]),
            },
          },
        },
      },
      plugins: [labels],
    };
  }

  function tipOfCluster(i) {
    const c = clusters[i];
    return [`${counted(c.size)} (${percent(c.share)})`, ...wrapped(firstTerms(i, 8))];
  }

  function tipOfRow(row) {
    const lines = row[4] ? wrapped(row[4]) : [];
    return [...lines, `${name(row[2])} (${firstTerms(row[2], 3)}), cosine ${decimal(row[5])}`];
  }

  $("map").addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const n = data.map.centers.length;
    if (event.key === "Escape") report.choose(null);
    else if (step && n)
      report.choose(
        report.chosen === null ? (step > 0 ? 0 : n - 1) : (report.chosen + step + n) % n,
      );
    else return;
    event.preventDefault();
  });
  const sample =
    rows.length < data.map.of
      ? `a sample of ${whole(rows.length)} of ${whole(data.map.of)} ${unit}`
      : `all ${whole(rows.length)} ${unit}`;
  $("map-note").textContent =
    `Large dots are the centers, by size; small dots are ${sample}. Similar centers lie near each other, and each ${one} lies between the centers it is similar to. Far apart is a hint, not a measure.`;
  report.chart(
    "map",
    `Map of ${data.map.centers.length} centers and ${rows.length} ${unit}; the table below has the same clusters.`,
    mapConfig,
  );
})();
