"use strict";
// Sorts a table when a column head is clicked; opens the instruction that the URL names.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") !== "descending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const body = table.tBodies[0];
      const value = (row) => {
        const cell = row.cells[column];
        const number = cell.dataset.v ?? cell.textContent;
        return number !== "" && !Number.isNaN(Number(number)) ? Number(number) : number;
      };
      const order = (a, b) => (typeof a === typeof b ? (a > b) - (a < b) : typeof a === "number" ? 1 : -1);
      [...body.rows].sort((a, b) => (down ? -1 : 1) * order(value(a), value(b))).forEach((row) => body.append(row));
    });
  });
}
const open = () => {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  if (target && target.tagName === "DETAILS") target.open = true;
};
addEventListener("hashchange", open);
open();
