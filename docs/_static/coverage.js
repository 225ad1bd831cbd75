// The box and the switches above a table of names: rows show whose text holds every word and whose state is switched on.
document.addEventListener("DOMContentLoaded", () => {
  const form = document.querySelector("form.filter");
  if (!form) return;
  const rows = [...document.querySelectorAll("table.names tbody tr")].map((row) => ({
    row, text: row.textContent.toLowerCase(), state: row.dataset.state,
  }));
  const show = () => {
    const words = form.elements.text.value.toLowerCase().split(/\s+/).filter(Boolean);
    const states = new Set([...form.querySelectorAll("[name=state]:checked")].map((box) => box.value));
    let count = 0;
    for (const { row, text, state } of rows) {
      const fits = states.has(state) && words.every((word) => text.includes(word));
      row.hidden = !fits;
      count += fits;
    }
    form.querySelector(".found").textContent = `${count} of ${rows.length}`;
    const url = new URL(location);
    if (words.length) url.searchParams.set("find", form.elements.text.value);
    else url.searchParams.delete("find");
    history.replaceState(null, "", url);
  };
  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  for (const button of document.querySelectorAll("button.module")) {
    button.addEventListener("click", () => {
      form.elements.text.value = button.textContent + ".";
      show();
      form.scrollIntoView({ block: "center" });
      form.elements.text.focus();
    });
  }
  form.elements.text.value = new URL(location).searchParams.get("find") || "";
  show();
});
