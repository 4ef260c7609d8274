const table = document.getElementById("segments"), body = table.tBodies[0];
const search = document.getElementById("search"), shown = document.getElementById("shown");
function filter() {
  const wanted = search.value.toLowerCase();
  let count = 0;
  for (const row of body.rows) {
    row.hidden = !row.textContent.toLowerCase().includes(wanted);
    count += row.hidden ? 0 : 1;
  }
  shown.textContent = count + " of " + body.rows.length;
}
search.addEventListener("input", filter);
filter();
for (const heading of table.tHead.rows[0].cells) {
  let direction = -1;
  heading.addEventListener("click", () => {
    const column = heading.cellIndex, key = row => row.cells[column].textContent;
    const compare = (a, b) => direction * key(a).localeCompare(key(b), undefined, { numeric: true });
    const byNumber = (a, b) => direction * (parseFloat(key(a)) - parseFloat(key(b)));
    body.append(...[...body.rows].sort(column > 1 ? byNumber : compare));
    direction = -direction;
  });
}
