// The fields of a VM, made of the data once somebody wants to see them: a VM is another one, but for some fields.
(() => {
  const { texts, entries, bases, fields, places } = page;
  if (!fields) return;
  const made = (name, text, parent, kind) => {
    const element = document.createElement(name);
    element.textContent = text;
    if (kind) element.className = kind;
    parent.append(element);
    return element;
  };
  const placed = (where, [file, line]) =>
    where.replace(/^\+(-?\d+)/, (_, lines) => `${file}:${line + Number(lines)}`);
  const show = (i, details) => {
    const [base, ...changes] = fields[i];
    const numbers = [...bases[base]];
    for (let n = 0; n < changes.length; n += 2) numbers[changes[n]] = changes[n + 1];
    const cell = details.closest("tbody").querySelector(".more > td");
    const list = made("ul", "", cell, "fields");
    for (const number of numbers) {
      const [field, ...said] = entries[number].map((text) => texts[text]);
      const item = made("li", "", list);
      made("code", field, item);
      item.append(": ");
      for (let n = 0; n < said.length; n += 3) {
        const parent = n ? made("span", "", item, "lost") : item;
        made("code", said[n], parent);
        parent.append(` ${said[n + 1]} `);
        const where = said[n + 2];
        if (where) made("small", placed(where, places[i]), parent);
      }
    }
  };
  [...document.getElementById("fleet").tBodies].forEach((body, i) => {
    const details = body.querySelector("details[data-fields]");
    if (details) details.addEventListener("toggle", () => show(i, details), { once: true });
  });
})();
