"use strict";
// Terms and rows as lists, for the cluster chosen and for the table.

(() => {
  const { element, decimal, percent } = page;

  report.terms = (list) => {
    return element(
      "ul",
      { className: "terms" },
      ...list.map(([term, share, less]) =>
        element(
          "li",
          { className: less ? "less" : "", title: less ? "less of it than elsewhere" : "" },
          `${less ? "− " : ""}${term}`,
          element("span", { textContent: percent(share) }),
        ),
      ),
    );
  };

  report.listed = (list) => {
    return element(
      "ol",
      { className: "rows" },
      ...list.map(([id, text, cosine]) =>
        element(
          "li",
          {},
          element("b", { textContent: id }),
          " ",
          element("i", { textContent: decimal(cosine, 2) }),
          " ",
          text,
        ),
      ),
    );
  };
})();
