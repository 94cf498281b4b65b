"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const fleet = document.getElementById("fleet");
  const bodies = [...fleet.tBodies];
  const at = (id) => document.getElementById(id);
  const [effect, namespace, definition, name] = ["effect", "namespace", "definition", "name"].map(at);
  const order = [...new Set(data.map((row) => row[0]))];

  const fill = (select, values) => {
    for (const value of values) select.append(new Option(value, value));
  };
  fill(effect, order);
  fill(namespace, [...new Set(data.map((row) => row[1]))].filter(Boolean).sort());
  fill(definition, [...new Set(data.flatMap((row) => row[7]))].sort());

  const filter = () => {
    const wanted = name.value.trim().toLowerCase();
    let shown = 0;
    data.forEach((row, i) => {
      const fits =
        (!effect.value || row[0] === effect.value) &&
        (!namespace.value || row[1] === namespace.value) &&
        (!definition.value || row[7].includes(definition.value)) &&
        (!wanted || `${row[1]}/${row[2]}`.toLowerCase().includes(wanted));
      bodies[i].hidden = !fits;
      shown += fits;
    });
    at("shown").textContent = `${shown} of ${data.length} VMs`;
  };
  const form = at("filter");
  form.addEventListener("input", filter);
  form.addEventListener("change", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  filter();

  const keys = [
    (row) => order.indexOf(row[0]),
    (row) => `${row[1]}/${row[2]}`,
    (row) => row[3],
    (row) => row[4],
    (row) => row[5],
  ];
  const compare = (a, b) => (typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true }));
  [...fleet.tHead.rows[0].cells].forEach((cell, column, cells) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...cell.childNodes);
    cell.append(button);
    button.addEventListener("click", () => {
      const down = cell.getAttribute("aria-sort") === "ascending";
      cells.forEach((one) => one.removeAttribute("aria-sort"));
      cell.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = keys[column];
      const sorted = data.map((row, i) => [key(row), i]).sort((a, b) => compare(a[0], b[0]) * (down ? -1 : 1) || a[1] - b[1]);
      fleet.append(...sorted.map((one) => bodies[one[1]]));
    });
  });

  addEventListener("beforeprint", () => {
    for (const one of document.querySelectorAll("details")) one.open = true;
  });
})();
