"use strict";
// The table #fleet: a tbody a row of the JSON in #data. Its columns sort, and the controls of #filter filter, by the
// values that their data-key names in a row; data-given: in the order in which the rows came.
const page = JSON.parse(document.getElementById("data").textContent);
const rows = Array.isArray(page) ? page : page.rows;
(() => {
  const at = (id) => document.getElementById(id);
  const [form, fleet, shown] = ["filter", "fleet", "shown"].map(at);
  const bodies = [...fleet.tBodies];
  const valued = (row, keys) => (keys.length > 1 ? keys.map((key) => row[key]).join("/") : row[keys[0]]);
  const keysOf = (element) => element.dataset.key.split(" ").map(Number);

  const controls = [...form.querySelectorAll("[data-key]")].map((control) => [control, keysOf(control)]);
  for (const [control, keys] of controls) {
    if (control.tagName !== "SELECT") continue;
    const values = [...new Set(rows.flatMap((row) => valued(row, keys)))].filter(Boolean);
    if (control.dataset.given === undefined) values.sort();
    for (const value of values) control.append(new Option(value, value));
  }
  const fits = (row) =>
    controls.every(([control, keys]) => {
      const wanted = control.value.trim();
      const value = valued(row, keys);
      if (!wanted) return true;
      if (control.tagName !== "SELECT") return value.toLowerCase().includes(wanted.toLowerCase());
      return Array.isArray(value) ? value.includes(wanted) : value === wanted;
    });
  const parts = at("parts");
  const partKey = parts && Number(parts.dataset.key);
  const part = () => parts?.querySelector(":checked").value ?? "";
  const isIn = (row) => {
    const wanted = part();
    return wanted.startsWith("!") ? row[partKey] !== wanted.slice(1) : !wanted || row[partKey] === wanted;
  };
  // The address says what is chosen, and so a link to the page can: #part=restart&namespace=prod
  const chosen = [...controls.map(([control]) => control)];
  const remember = () => {
    const words = new URLSearchParams(chosen.filter((one) => one.value).map((one) => [one.id, one.value]));
    const first = parts?.querySelector("input").value ?? "";
    if (part() !== first) words.set("part", part());
    const hash = words.size ? `#${words}` : "";
    if (hash || location.hash.includes("=")) history.replaceState(null, "", hash || "#");
  };
  const recall = () => {
    if (!location.hash.includes("=")) return;
    const words = new URLSearchParams(location.hash.slice(1));
    for (const one of chosen) one.value = words.get(one.id) ?? "";
    for (const one of parts?.querySelectorAll("input") ?? []) if (one.value === words.get("part")) one.checked = true;
  };
  const filter = () => {
    let count = 0;
    rows.forEach((row, i) => {
      const is = isIn(row) && fits(row);
      bodies[i].hidden = !is;
      count += is;
    });
    shown.textContent = `${count} of ${rows.length} VM${rows.length === 1 ? "" : "s"}`;
  };
  form.addEventListener("input", filter);
  form.addEventListener("change", filter);
  parts?.addEventListener("change", filter);
  addEventListener("input", remember);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  recall();
  filter();
  // A link to a VM that is filtered away shows it, beside all others.
  addEventListener("hashchange", () => {
    const linked = bodies.find((one) => one.id && `#${one.id}` === location.hash);
    if (!linked?.hidden) return;
    for (const one of chosen) one.value = "";
    for (const one of parts?.querySelectorAll("input") ?? []) if (!one.value) one.checked = true;
    filter();
    linked.scrollIntoView();
  });

  const compare = (a, b) => (typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true }));
  [...fleet.tHead.rows[0].cells].forEach((cell, _, cells) => {
    const keys = keysOf(cell);
    const given = [...new Set(rows.map((row) => valued(row, keys)))];
    const key = (row) => {
      const value = valued(row, keys);
      return cell.dataset.given === undefined ? (Array.isArray(value) ? value.join() : value) : given.indexOf(value);
    };
    const button = document.createElement("button");
    button.type = "button";
    button.append(...cell.childNodes);
    cell.append(button);
    button.addEventListener("click", () => {
      const down = cell.getAttribute("aria-sort") === "ascending";
      cells.forEach((one) => one.removeAttribute("aria-sort"));
      cell.setAttribute("aria-sort", down ? "descending" : "ascending");
      const sorted = rows.map((row, i) => [key(row), i]);
      sorted.sort((a, b) => compare(a[0], b[0]) * (down ? -1 : 1) || a[1] - b[1]);
      fleet.append(...sorted.map((one) => bodies[one[1]]));
    });
  });

  // On paper nothing can be unfolded: of a few VMs all but their fields, which take a sheet each, is (page.css).
  const most = 20;
  addEventListener("beforeprint", () => {
    const folded = fleet.querySelectorAll("tbody:not([hidden]) details:not([open], [data-fields])");
    if (fleet.querySelectorAll("tbody:not([hidden]) details").length > most) return;
    for (const one of folded) {
      one.open = true;
      one.classList.add("printed");
    }
  });
  addEventListener("afterprint", () => {
    for (const one of document.querySelectorAll("details.printed")) {
      one.open = false;
      one.classList.remove("printed");
    }
  });
})();
