// What the pointer or the keyboard is at is told below the picture.
const tell = document.querySelector(".tell");
for (const piece of document.querySelectorAll(".piece")) {
  piece.setAttribute("tabindex", "-1");
  const show = () => { tell.textContent = piece.querySelector("title").textContent; };
  piece.addEventListener("pointerenter", show);
  piece.addEventListener("focus", show);
  piece.addEventListener("click", () => piece.focus());
}
