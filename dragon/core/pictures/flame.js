// A click shows a box and what is within it alone; a search marks boxes by name, and tells their share of all time.
const boxes = [...document.querySelectorAll(".box")].map((group) => ({
  group, rect: group.querySelector("rect"), text: group.querySelector("text"), name: group.dataset.name,
  left: +group.dataset.left, share: +group.dataset.share, depth: +group.dataset.depth,
}));
const tell = document.querySelector(".tell"), found = document.getElementById("found");
const WIDTH = 1000, LETTER = 6.7, SLACK = 1e-6;
const zoom = (centre) => {
  for (const box of boxes) {
    const around = box.depth < centre.depth;
    const left = around ? 0 : (box.left - centre.left) / centre.share;
    const share = around ? 1 : box.share / centre.share;
    const inside = around
      ? box.left <= centre.left + SLACK && box.left + box.share >= centre.left + centre.share - SLACK
      : left > -SLACK && left + share < 1 + SLACK;
    box.group.style.display = inside ? "" : "none";
    if (!inside) continue;
    box.rect.setAttribute("x", left * WIDTH);
    box.rect.setAttribute("width", Math.max(share * WIDTH, 0.3));
    box.rect.style.opacity = around ? 0.5 : "";
    const letters = Math.floor((share * WIDTH - 6) / LETTER);
    box.text.setAttribute("x", left * WIDTH + 4);
    box.text.textContent = letters < 2 ? "" : box.name.length <= letters ? box.name : box.name.slice(0, letters - 1) + "…";
  }
};
for (const box of boxes) {
  const show = () => { tell.textContent = box.group.querySelector("title").textContent; };
  box.group.setAttribute("tabindex", box.share > 0.02 ? "0" : "-1");
  box.group.style.cursor = "pointer";
  box.group.addEventListener("pointerenter", show);
  box.group.addEventListener("focus", show);
  box.group.addEventListener("click", () => zoom(box));
  box.group.addEventListener("keydown", (event) => { if (event.key === "Enter") zoom(box); });
}
document.getElementById("whole").addEventListener("click", () => zoom(boxes.find((box) => box.depth === 0)));
document.getElementById("search").addEventListener("input", (event) => {
  const words = event.target.value.trim().toLowerCase();
  let share = 0, end = -1;
  const hits = boxes.filter((box) => words && box.name.toLowerCase().includes(words));
  for (const box of boxes) box.rect.style.stroke = "";
  for (const box of hits) {
    box.rect.style.stroke = "var(--mark)";
    box.rect.style.strokeWidth = "2";
  }
  for (const box of hits.sort((a, b) => a.left - b.left || b.share - a.share)) {
    if (box.left >= end - SLACK) { share += box.share; end = box.left + box.share; }
  }
  for (const box of boxes) if (!hits.includes(box)) { box.rect.style.stroke = "var(--paper)"; box.rect.style.strokeWidth = ".6"; }
  found.textContent = words ? `${hits.length} boxes, ${(100 * share).toFixed(1)}% of all` : "";
});
