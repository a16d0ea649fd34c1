"use strict";
// The report's one state, the cluster chosen, and the words that its parts share.

const report = (() => {
  const { clusters, unit } = page.data;
  const told = [];
  const state = {
    chosen: null, // a place in clusters, which are sorted by size
    one: unit === "rows" ? "row" : "document",
    name: (i) => `cluster ${clusters[i].label}`,
    faded: (i) => state.chosen !== null && state.chosen !== i,
    counted: (n) => `${page.whole(n)} ${n === 1 ? state.one : unit}`,
    firstTerms: (i, n) =>
      clusters[i].descriptive
        .slice(0, n)
        .map((term) => term[0])
        .join(", "),
    choose(i) {
      state.chosen = i;
      told.forEach((tell) => tell(i));
    },
    onChoice: (tell) => told.push(tell),
    // A chart that shows which cluster is chosen.
    chart(id, label, build) {
      const entry = page.chart(id, label, build);
      told.push(() => page.refresh(entry));
    },
  };
  return state;
})();
