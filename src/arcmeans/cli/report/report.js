"use strict";
// The report of a clustering. One state, the cluster chosen; every part shows it.

(() => {
  const { data, $, element, whole, decimal, percent, color, hue, chart, refresh, wrapped, axis } = page;
  const { summary, clusters, trace, unit } = data;
  let chosen = null; // a place in clusters, which are sorted by size

  const one = unit === "rows" ? "row" : "document";
  const name = (i) => `cluster ${clusters[i].label}`;
  const firstTerms = (i, n) => clusters[i].descriptive.slice(0, n).map((t) => t[0]).join(", ");

  // --- Overview.

  function facts() {
    const { seconds, similarities } = summary;
    const saved = similarities.saved_share;
    const shown = [
      [unit === "rows" ? "Rows" : "Documents", whole(summary.rows), `${whole(summary.features)} ${unit === "rows" ? "features" : "terms"}`],
      ["Clusters (k)", whole(summary.k), `${whole(clusters.filter((c) => c.size).length)}${summary.k > clusters.length ? " largest" : ""} with ${unit}`],
      ["Objective", summary.objective.toLocaleString("en-US", { maximumFractionDigits: 1 }), `sum of cosines; mean ${decimal(summary.mean_cosine, 4)}`],
      ["Iterations", whole(summary.iterations), { "max-iter": "stopped at --max-iter", cycle: "came back to labels it had" }[summary.stopped] ?? summary.stopped],
      ["Time", `${seconds.fit.toFixed(seconds.fit < 10 ? 2 : 0)} s`, seconds.read === null ? "for the fit" : `for the fit; ${seconds.read.toFixed(seconds.read < 10 ? 2 : 0)} s to read`],
      ["Similarities saved", percent(saved), `${whole(similarities.computed)} computed of ${whole(similarities.of_all_pairs)}`],
    ];
    $("facts").replaceChildren(...shown.map(([title, value, more]) =>
      element("div", {}, element("dt", { textContent: title }), element("dd", { textContent: value }, element("small", { textContent: more })))));
    $("source").textContent = summary.source;
    $("created").textContent = summary.created;
    const warnings = [];
    if (summary.interrupted) warnings.push(`The fit was interrupted: this is the result so far, after ${summary.iterations} iterations (${summary.stopped}).`);
    if (summary.stopped === "max-iter") warnings.push(`The run stopped at its limit of ${summary.options.max_iter} iterations and has not converged.`);
    if (summary.rows_without_label) warnings.push(`${whole(summary.rows_without_label)} ${unit} have no ${unit === "rows" ? "direction (all zero)" : "terms"} and belong to no cluster.`);
    if (summary.k > clusters.length) warnings.push(`This page shows the ${whole(clusters.length)} largest of ${whole(summary.k)} clusters; clusters.json has all.`);
    $("warning").textContent = warnings.join(" ");
    $("warning").classList.toggle("hidden", !warnings.length);
  }

  // --- The map.

  const rows = data.map.rows;
  const crowd = Math.max(0.55, Math.min(1, Math.sqrt(50 / Math.max(1, data.map.centers.length))));
  const scale = () => crowd * Math.min(1, Math.max(0.6, $("map").parentElement.clientWidth / 600));
  const radius = (i) => scale() * (4 + 10 * Math.sqrt((clusters[i].size || 0) / (clusters[0].size || 1)));
  const faded = (i) => chosen !== null && chosen !== i;

  const labels = {
    id: "labels",
    // The number and first term of each center, the largest first, where there is room.
    afterDatasetsDraw(drawn) {
      const { ctx, chartArea } = drawn;
      const points = drawn.getDatasetMeta(1).data;
      const taken = [];
      const order = points.map((_, i) => i);
      if (chosen !== null && points[chosen]) order.unshift(chosen);
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
        const left = points[i].x + gap + width > chartArea.right ? points[i].x - gap - width : points[i].x + gap;
        const box = [left - 2, points[i].y - 8, left + width + 2, points[i].y + 8];
        if (box[0] < 0 || taken.some((t) => t[0] < box[2] && box[0] < t[2] && t[1] < box[3] && box[1] < t[3])) continue;
        taken.push(box);
        ctx.fillStyle = faded(i) ? color("soft") : color("ink");
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
            pointRadius: rows.map((r) => (chosen === r[2] ? 4 : 2.6)),
            pointHoverRadius: 6,
            pointBackgroundColor: rows.map((r) => hue(r[2], faded(r[2]) ? 0.1 : 0.6)),
            pointBorderWidth: 0,
            order: 1,
          },
          {
            data: data.map.centers.map(([cx, cy]) => ({ x: cx, y: cy })),
            pointRadius: data.map.centers.map((_, i) => radius(i)),
            pointHoverRadius: data.map.centers.map((_, i) => radius(i) + 2),
            pointBackgroundColor: data.map.centers.map((_, i) => hue(i, faded(i) ? 0.3 : 0.95)),
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
          if (!found.length) return choose(null);
          const { datasetIndex, index } = found.find((f) => f.datasetIndex === 1) ?? found[0];
          choose(datasetIndex === 1 ? index : rows[index][2]);
        },
        plugins: {
          tooltip: {
            // Of all that lies here the center, or else one row.
            filter: (item, i, items) => (items.some((other) => other.datasetIndex === 1) ? item.datasetIndex === 1 : i === 0),
            callbacks: {
              title: ([item]) => (item.datasetIndex === 1 ? `Cluster ${clusters[item.dataIndex].label}` : wrapped(rows[item.dataIndex][3], 58, 2)),
              label: (item) => (item.datasetIndex === 1 ? tipOfCluster(item.dataIndex) : tipOfRow(rows[item.dataIndex])),
            },
          },
        },
      },
      plugins: [labels],
    };
  }

  function tipOfCluster(i) {
    const c = clusters[i];
    return [`${whole(c.size)} ${c.size === 1 ? one : unit} (${percent(c.share)})`, ...wrapped(firstTerms(i, 8))];
  }

  function tipOfRow(row) {
    const lines = row[4] ? wrapped(row[4]) : [];
    return [...lines, `${name(row[2])} (${firstTerms(row[2], 3)}), cosine ${decimal(row[5])}`];
  }

  // --- The cluster chosen.

  function terms(list) {
    return element("ul", { className: "terms" }, ...list.map(([term, share, less]) =>
      element("li", { className: less ? "less" : "", title: less ? "less of it than elsewhere" : "" },
        `${less ? "− " : ""}${term}`, element("span", { textContent: percent(share) }))));
  }

  function listed(list) {
    return element("ol", { className: "rows" }, ...list.map(([id, text, cosine]) =>
      element("li", {}, element("b", { textContent: id }), " ", element("i", { textContent: decimal(cosine, 2) }), " ", text)));
  }

  function details(c) {
    const part = (title, content) => element("div", {}, element("h3", { textContent: title }), content);
    const parts = [part("Sets it apart", terms(c.discriminating)), part(`Typical ${unit}`, listed(c.typical)), part(`Least typical ${unit}`, listed(c.atypical))];
    return element("div", { className: "columns" }, ...parts);
  }

  function panel() {
    const box = $("detail");
    $("chosen").value = chosen === null ? "" : String(chosen);
    if (chosen === null) {
      box.replaceChildren(element("p", { className: "note", textContent: "None chosen: the histogram shows all of them together." }));
    } else {
      const c = clusters[chosen];
      const line = `${whole(c.size)} ${c.size === 1 ? one : unit} (${percent(c.share)}), cohesion ${decimal(c.cohesion)}` +
        (c.nearest === null ? "" : `, separation ${decimal(c.separation)} from cluster ${c.nearest}`);
      box.replaceChildren(element("p", { className: "note", textContent: line }), terms(c.descriptive), element("h3", { textContent: `Typical ${unit}` }), listed(c.typical.slice(0, 3)));
    }
    const n = (chosen === null ? data.all : clusters[chosen]).histogram.reduce((a, b) => a + b, 0);
    $("histogram-note").textContent = `Cosine to the own center: ${chosen === null ? "all clusters" : name(chosen)}, ${whole(n)} ${n === 1 ? one : unit}. Bars begin at 0.`;
    $("histogram").setAttribute("aria-label", `Histogram. ${$("histogram-note").textContent}`);
  }

  function histogramConfig() {
    const shown = chosen === null ? data.all : clusters[chosen];
    const total = Math.max(1, shown.histogram.reduce((a, b) => a + b, 0));
    const width = data.bins[1] - data.bins[0];
    return {
      type: "bar",
      data: {
        datasets: [{
          data: shown.histogram.map((n, i) => ({ x: data.bins[i] + width / 2, y: n / total })),
          backgroundColor: chosen === null ? color("accent") : hue(chosen),
          barPercentage: 1,
          categoryPercentage: 0.94,
        }],
      },
      options: {
        scales: {
          x: axis("cosine", { type: "linear", min: data.bins[0], max: 1, offset: false, grid: { display: false } }),
          y: axis(`share of ${unit}`, { min: 0, ticks: { callback: percent, maxTicksLimit: 5 } }),
        },
        plugins: { tooltip: { callbacks: {
          title: ([item]) => `${decimal(data.bins[item.dataIndex], 3)} to ${decimal(data.bins[item.dataIndex + 1], 3)}`,
          label: (item) => `${whole(shown.histogram[item.dataIndex])} ${unit}`,
        } } },
      },
    };
  }

  // --- All clusters side by side.

  const perCluster = (extra) => ({
    onClick: (_, found) => found.length && choose(found[0].index),
    interaction: { mode: "index", intersect: false },
    ...extra,
  });
  const clusterAxis = () => axis("cluster, the largest first", { grid: { display: false }, ticks: { autoSkip: true, maxRotation: 0 } });
  const titled = { title: ([item]) => `Cluster ${clusters[item.dataIndex].label}: ${firstTerms(item.dataIndex, 5)}` };

  function sizesConfig() {
    return {
      type: "bar",
      data: { labels: clusters.map((c) => c.label), datasets: [{ data: clusters.map((c) => c.size), backgroundColor: clusters.map((_, i) => hue(i, faded(i) ? 0.35 : 0.9)), categoryPercentage: 0.9 }] },
      options: perCluster({
        scales: { x: clusterAxis(), y: axis(unit, { min: 0, ticks: { precision: 0 } }) },
        plugins: { tooltip: { callbacks: { ...titled, label: (item) => `${whole(item.raw)} ${unit}, ${percent(clusters[item.dataIndex].share)}` } } },
      }),
    };
  }

  function spreadConfig() {
    const shown = clusters.map((c) => c.quantiles);
    const tint = (alpha) => clusters.map((_, i) => hue(i, faded(i) ? alpha / 3 : alpha));
    return {
      type: "bar",
      data: {
        labels: clusters.map((c) => c.label),
        datasets: [
          { type: "line", data: shown.map((q) => q && q[2]), showLine: false, pointStyle: "rectRot", pointRadius: 4, pointBackgroundColor: color("ink"), pointBorderWidth: 0 },
          { data: shown.map((q) => q && [q[1], q[3]]), backgroundColor: tint(0.85), grouped: false, categoryPercentage: 0.75 },
          { data: shown.map((q) => q && [q[0], q[4]]), backgroundColor: tint(0.4), grouped: false, categoryPercentage: 0.25 },
        ],
      },
      options: perCluster({
        scales: { x: clusterAxis(), y: axis("cosine", { min: data.bins[0], max: 1 }) },
        plugins: { tooltip: { filter: (item) => item.datasetIndex === 0, callbacks: {
          ...titled,
          label: (item) => {
            const q = shown[item.dataIndex];
            return [`median ${decimal(q[2])}`, `half within ${decimal(q[1])} to ${decimal(q[3])}`, `nine in ten within ${decimal(q[0])} to ${decimal(q[4])}`];
          },
        } } },
      }),
    };
  }

  // --- The run.

  function lineConfig(title, values, options, more = []) {
    const single = values.length < 40;
    return () => ({
      type: "line",
      data: {
        labels: values.map((_, i) => i + 1),
        datasets: [
          { data: values, borderColor: color("accent"), backgroundColor: color("accent"), pointRadius: single ? 2.5 : 0, pointHitRadius: 12, borderWidth: 2 },
          ...more.map((value) => ({ data: values.map(() => value), borderColor: color("soft"), borderDash: [5, 4], borderWidth: 1.5, pointRadius: 0 })),
        ],
      },
      options: {
        interaction: { mode: "index", intersect: false },
        scales: { x: axis("iteration", { grid: { display: false }, ticks: { autoSkip: true, maxRotation: 0 } }), y: axis(title, options) },
        plugins: { tooltip: { filter: (item) => item.datasetIndex === 0, callbacks: { title: ([item]) => `Iteration ${item.label}`, label: (item) => `${title} ${item.raw.toLocaleString("en-US", { maximumFractionDigits: 6 })}` } } },
      },
    });
  }

  // --- The table.

  const COLUMNS = [
    { key: "label", title: "Cluster", number: true, falling: false },
    { key: "size", title: "Size", number: true, falling: true },
    { key: "cohesion", title: "Cohesion", number: true, falling: true, optional: true },
    { key: "separation", title: "Separation", number: true, falling: true, optional: true },
    { key: "terms", title: "Terms", falling: false },
    { key: "example", title: `Most typical ${one}`, falling: false, optional: true },
  ];
  let sorted = { key: "size", falling: true };
  const records = clusters.map((c, i) => ({
    ...c,
    place: i,
    terms: c.descriptive.map((t) => t[0]).join(", "),
    example: c.typical.length ? c.typical[0][1] || c.typical[0][0] : "",
    words: [c.label, ...c.descriptive.map((t) => t[0]), ...c.discriminating.filter((t) => !t[2]).map((t) => t[0]), ...[...c.typical, ...c.atypical].flatMap((r) => [r[0], r[1]])].join("\n").toLowerCase(),
    open: false,
  }));

  function heading() {
    document.querySelector("#table thead tr").replaceChildren(...COLUMNS.map((column) => {
      const button = element("button", { type: "button", textContent: column.title });
      button.addEventListener("click", () => {
        sorted = { key: column.key, falling: sorted.key === column.key ? !sorted.falling : column.falling };
        table();
      });
      const cell = element("th", { scope: "col", className: `${column.number ? "number" : ""} ${column.optional ? "optional" : ""}` }, button);
      cell.dataset.key = column.key;
      return cell;
    }));
  }

  function recordRow(r) {
    const open = element("button", { type: "button", textContent: r.label });
    open.setAttribute("aria-expanded", "false");
    open.setAttribute("aria-label", `Cluster ${r.label}, details`);
    const dot = element("span", { className: "swatch" });
    dot.setAttribute("aria-hidden", "true");
    r.dot = dot;
    r.button = open;
    const row = element("tr", { className: "cluster" },
      element("td", { className: "number" }, dot, open),
      element("td", { className: "number", textContent: whole(r.size) }),
      element("td", { className: "number optional", textContent: decimal(r.cohesion) }),
      element("td", { className: "number optional", textContent: decimal(r.separation) }),
      element("td", { className: "terms", textContent: r.terms }),
      element("td", { className: "typical optional" }, element("div", { textContent: r.example })));
    row.dataset.label = r.label;
    row.addEventListener("click", () => { toggle(r, !r.open); choose(r.open ? r.place : null); });
    return row;
  }

  function toggle(r, open) {
    r.open = open;
    r.button.setAttribute("aria-expanded", String(open));
    if (open && !r.more) {
      r.more = element("tr", { className: "more" }, element("td", { colSpan: COLUMNS.length }, details(r)));
      r.row.after(r.more);
    }
    r.more?.classList.toggle("hidden", !open);
  }

  function table() {
    const { key, falling } = sorted;
    const compare = (a, b) => (a[key] === null) - (b[key] === null) || (typeof a[key] === "string" ? a[key].localeCompare(b[key]) : a[key] - b[key]) * (falling ? -1 : 1) || a.place - b.place;
    const wanted = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = records.filter((r) => wanted.every((word) => r.words.includes(word))).sort(compare);
    const body = document.createDocumentFragment();
    for (const r of found) {
      r.row ??= recordRow(r);
      body.append(r.row);
      if (r.more) body.append(r.more);
    }
    document.querySelector("#table tbody").replaceChildren(body);
    $("found").textContent = wanted.length ? `${whole(found.length)} of ${whole(records.length)} clusters` : `${whole(records.length)} clusters`;
    for (const cell of document.querySelectorAll("#table th")) {
      if (cell.dataset.key === key) cell.setAttribute("aria-sort", falling ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    }
  }

  // --- The state.

  const follow = [];
  function choose(i) {
    chosen = i;
    panel();
    follow.forEach(refresh);
    for (const r of records) r.row?.classList.toggle("chosen", r.place === i);
  }

  function paintDots() {
    for (const r of records) if (r.dot) r.dot.style.background = hue(r.place);
  }

  facts();
  heading();
  table();
  paintDots();
  new MutationObserver(paintDots).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  $("search").addEventListener("input", table);
  $("expand").addEventListener("click", () => {
    const open = $("expand").getAttribute("aria-pressed") !== "true";
    $("expand").setAttribute("aria-pressed", String(open));
    $("expand").textContent = open ? "Close all" : "Open all";
    records.forEach((r) => toggle(r, open));
  });
  $("chosen").append(element("option", { value: "", textContent: "all" }), ...clusters.map((c, i) => element("option", { value: String(i), textContent: `${c.label}: ${firstTerms(i, 3)}`.slice(0, 60) })));
  $("chosen").addEventListener("change", (event) => choose(event.target.value === "" ? null : Number(event.target.value)));
  $("map").addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const n = data.map.centers.length;
    if (event.key === "Escape") choose(null);
    else if (step && n) choose(chosen === null ? (step > 0 ? 0 : n - 1) : (chosen + step + n) % n);
    else return;
    event.preventDefault();
  });
  const sample = rows.length < data.map.of ? `a sample of ${whole(rows.length)} of ${whole(data.map.of)} ${unit}` : `all ${whole(rows.length)} ${unit}`;
  $("map-note").textContent = `Large dots are the centers, by size; small dots are ${sample}. Similar centers lie near each other, and each ${one} lies between the centers it is similar to. Far apart is a hint, not a measure.`;
  panel();
  follow.push(chart("map", `Map of ${data.map.centers.length} centers and ${rows.length} ${unit}; the table below has the same clusters.`, mapConfig));
  follow.push(chart("histogram", $("histogram").getAttribute("aria-label"), histogramConfig));
  follow.push(chart("sizes", `Sizes of the clusters, from ${whole(clusters[0].size)} down to ${whole(clusters[clusters.length - 1].size)} ${unit}.`, sizesConfig));
  follow.push(chart("spread", "Quantiles of the similarities within each cluster.", spreadConfig));
  const means = trace.mean_cosine;
  const [low, high] = [Math.min(...means), Math.max(...means)];
  $("trace-mean-note").textContent = `Mean cosine, ${low.toFixed(4)} to ${high.toFixed(4)}; the axis does not begin at 0`;
  chart("trace-mean", `Mean cosine by iteration, from ${low.toFixed(4)} to ${high.toFixed(4)}.`, lineConfig("mean cosine", means, { ticks: { maxTicksLimit: 6 } }));
  chart("trace-changed", "Rows that changed cluster, by iteration.", lineConfig("changed", trace.changed, { min: 0, ticks: { maxTicksLimit: 6, precision: 0 } }));
  chart("trace-work", "Similarities computed, by iteration.", lineConfig("similarities", trace.similarities, { min: 0, ticks: { maxTicksLimit: 6 } }, [trace.all_pairs]));
  page.start();
  page.wear(document.documentElement.dataset.theme);
})();
