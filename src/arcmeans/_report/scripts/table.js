"use strict";
// The table of clusters: sorted by its heading, searched, and opened row by row.

(() => {
  const { data, $, element, whole, decimal, hue } = page;
  const { one } = report;

  const { clusters, unit } = data;

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
    words: [
      c.label,
      ...c.descriptive.map((t) => t[0]),
      ...c.discriminating.filter((t) => !t[2]).map((t) => t[0]),
      ...[...c.typical, ...c.atypical].flatMap((r) => [r[0], r[1]]),
    ]
      .join("\n")
      .toLowerCase(),
    open: false,
  }));

  function heading() {
    document.querySelector("#table thead tr").replaceChildren(
      ...COLUMNS.map((column) => {
        const button = element("button", { type: "button", textContent: column.title });
        button.addEventListener("click", () => {
          sorted = {
            key: column.key,
            falling: sorted.key === column.key ? !sorted.falling : column.falling,
          };
          table();
        });
        const cell = element(
          "th",
          {
            scope: "col",
            className: `${column.number ? "number" : ""} ${column.optional ? "optional" : ""}`,
          },
          button,
        );
        cell.dataset.key = column.key;
        return cell;
      }),
    );
  }

  function recordRow(r) {
    const open = element("button", { type: "button", textContent: r.label });
    open.setAttribute("aria-expanded", "false");
    open.setAttribute("aria-label", `Cluster ${r.label}, details`);
    const dot = element("span", { className: "swatch" });
    dot.setAttribute("aria-hidden", "true");
    r.dot = dot;
    r.button = open;
    const row = element(
      "tr",
      { className: "cluster" },
      element("td", { className: "number" }, dot, open),
      element("td", { className: "number", textContent: whole(r.size) }),
      element("td", { className: "number optional", textContent: decimal(r.cohesion) }),
      element("td", { className: "number optional", textContent: decimal(r.separation) }),
      element("td", { className: "terms", textContent: r.terms }),
      element("td", { className: "typical optional" }, element("div", { textContent: r.example })),
    );
    row.dataset.label = r.label;
    row.addEventListener("click", () => {
      toggle(r, !r.open);
      report.choose(r.open ? r.place : null);
    });
    return row;
  }

  function toggle(r, open) {
    r.open = open;
    r.button.setAttribute("aria-expanded", String(open));
    if (open && !r.more) {
      r.more = element(
        "tr",
        { className: "more" },
        element("td", { colSpan: COLUMNS.length }, details(r)),
      );
      r.row.after(r.more);
    }
    r.more?.classList.toggle("hidden", !open);
  }

  function table() {
    const { key, falling } = sorted;
    const compare = (a, b) =>
      (a[key] === null) - (b[key] === null) ||
      (typeof a[key] === "string" ? a[key].localeCompare(b[key]) : a[key] - b[key]) *
        (falling ? -1 : 1) ||
      a.place - b.place;
    const wanted = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = records
      .filter((r) => wanted.every((word) => r.words.includes(word)))
      .sort(compare);
    const body = document.createDocumentFragment();
    for (const r of found) {
      r.row ??= recordRow(r);
      body.append(r.row);
      if (r.more) body.append(r.more);
    }
    document.querySelector("#table tbody").replaceChildren(body);
    $("found").textContent = wanted.length
      ? `${whole(found.length)} of ${whole(records.length)} clusters`
      : `${whole(records.length)} clusters`;
    for (const cell of document.querySelectorAll("#table th")) {
      if (cell.dataset.key === key)
        cell.setAttribute("aria-sort", falling ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    }
  }

  function details(c) {
    const part = (title, content) =>
      element("div", {}, element("h3", { textContent: title }), content);
    const parts = [
      part("Sets it apart", report.terms(c.discriminating)),
      part(`Typical ${unit}`, report.listed(c.typical)),
      part(`Least typical ${unit}`, report.listed(c.atypical)),
    ];
    return element("div", { className: "columns" }, ...parts);
  }

  function paintDots() {
    for (const r of records) if (r.dot) r.dot.style.background = hue(r.place);
  }

  heading();
  table();
  paintDots();
  new MutationObserver(paintDots).observe(document.documentElement, {
    attributeFilter: ["data-theme"],
  });
  $("search").addEventListener("input", table);
  $("expand").addEventListener("click", () => {
    const open = $("expand").getAttribute("aria-pressed") !== "true";
    $("expand").setAttribute("aria-pressed", String(open));
    $("expand").textContent = open ? "Close all" : "Open all";
    records.forEach((r) => toggle(r, open));
  });
  report.onChoice((i) => {
    for (const r of records) r.row?.classList.toggle("chosen", r.place === i);
  });
})();
