"use strict";
// What both pages share: the theme, and charts that follow it. Texts become text nodes, never HTML.

const page = (() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const charts = [];
  const HUES = [216, 24, 145, 280, 50, 340, 185, 95, 255, 5, 165, 310];

  const $ = (id) => document.getElementById(id);

  function element(tag, properties = {}, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  }

  const whole = (n) => n.toLocaleString("en-US");
  const decimal = (x, digits = 3) => (x === null || x === undefined ? "–" : x.toFixed(digits));
  const percent = (x) => `${(100 * x).toFixed(x < 0.0995 ? 1 : 0)}%`;

  function dark() {
    return document.documentElement.dataset.theme === "dark";
  }

  function color(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  }

  // A color for the i-th cluster; after twelve they come again, lighter or darker.
  function hue(i, alpha = 1) {
    const light = (dark() ? 64 : 45) + [0, 12, -9][Math.floor(i / HUES.length) % 3];
    return `hsla(${HUES[i % HUES.length]}, ${dark() ? 70 : 62}%, ${light}%, ${alpha})`;
  }

  function defaults() {
    Chart.defaults.color = color("soft");
    Chart.defaults.borderColor = color("line");
    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
    Chart.defaults.font.size = 12;
    Object.assign(Chart.defaults.plugins.tooltip, {
      backgroundColor: dark() ? "#e7ecf3" : "#17202c",
      titleColor: dark() ? "#17202c" : "#fff",
      bodyColor: dark() ? "#17202c" : "#fff",
      displayColors: false,
      padding: 10,
    });
  }

  // A chart made by build(), and made anew whenever the colors change.
  function chart(id, label, build) {
    const canvas = $(id);
    canvas.setAttribute("aria-label", label);
    const entry = { id, build, chart: null };
    charts.push(entry);
    draw(entry);
    return entry;
  }

  function configured(entry) {
    const config = entry.build();
    config.options = {
      animation: false,
      responsive: true,
      maintainAspectRatio: false,
      ...config.options,
      plugins: { legend: { display: false }, ...config.options?.plugins },
    };
    return config;
  }

  function draw(entry) {
    entry.chart?.destroy();
    entry.chart = new Chart($(entry.id), configured(entry));
  }

  // Other values in the same chart: what is being pointed at stays so.
  function refresh(entry) {
    const { data: values, options } = configured(entry);
    Object.assign(entry.chart, { data: values, options });
    entry.chart.update("none");
  }

  function dress(theme) {
    document.documentElement.dataset.theme = theme;
    const button = $("theme");
    button.textContent = theme === "dark" ? "Light theme" : "Dark theme";
    button.setAttribute("aria-pressed", String(theme === "dark"));
    defaults();
  }

  function wear(theme) {
    dress(theme);
    charts.forEach(draw);
  }

  // Lines of a text, broken between words.
  function wrapped(text, width = 58, most = 6) {
    const lines = [""];
    for (const word of text.split(" ")) {
      const last = lines[lines.length - 1];
      if (last && last.length + word.length >= width) lines.push(word.slice(0, 2 * width));
      else lines[lines.length - 1] = last ? `${last} ${word}` : word.slice(0, 2 * width);
    }
    return lines.length > most ? [...lines.slice(0, most - 1), `${lines[most - 1]} …`] : lines;
  }

  function axis(title, more = {}) {
    return { title: { display: true, text: title }, grid: { drawTicks: false }, ...more };
  }

  const night = window.matchMedia("(prefers-color-scheme: dark)");
  dress(night.matches ? "dark" : "light");
  $("theme").addEventListener("click", () => wear(dark() ? "light" : "dark"));
  night.addEventListener("change", (event) => wear(event.matches ? "dark" : "light"));

  // Paper is white.
  let before = null;
  window.addEventListener("beforeprint", () => {
    before = document.documentElement.dataset.theme;
    wear("light");
  });
  window.addEventListener("afterprint", () => wear(before));

  return { data, $, element, whole, decimal, percent, color, hue, chart, refresh, wrapped, axis };
})();
