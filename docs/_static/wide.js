// Tables and long formulas scroll in a box of their own, which the keyboard can reach; the page itself never does.
document.addEventListener("DOMContentLoaded", () => {
  // What a button says is its name, and what folds a list is called after the list.
  // On a phone the button of the search shows no word, and keeps its label.
  for (const button of document.querySelectorAll(".search-button-field")) {
    if (!button.closest(".navbar-persistent--mobile")) button.removeAttribute("aria-label");
  }
  for (const summary of document.querySelectorAll(".bd-sidebar-primary summary")) {
    const link = summary.closest("li")?.querySelector("a");
    summary.setAttribute("aria-label", `Pages below ${link ? link.textContent.trim() : "this one"}`);
  }
  for (const box of document.querySelectorAll("div.pst-scrollable-table-container, div.highlight pre, div.formula")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
  }
});
