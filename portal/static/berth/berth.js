// What htmx leaves open: details and scroll survive a swap, menus close, a form is sent once, silence is shown.
(() => {
  "use strict";
  const kept = new WeakMap();

  const note = (target) => {
    const open = [...target.querySelectorAll("details[id]")].map((d) => [d.id, d.open]);
    const scroll = [...target.querySelectorAll("[data-scroll][id]")].map((e) => [
      e.id, e.scrollTop, e.scrollLeft, e.scrollHeight - e.scrollTop - e.clientHeight < 24,
    ]);
    return { open, scroll };
  };

  const follow = (root) => {
    for (const e of root.querySelectorAll("[data-follow]")) e.scrollTop = e.scrollHeight;
  };

  document.addEventListener("htmx:beforeSwap", (event) => {
    const { xhr, pathInfo } = event.detail;
    const asked = new URL(pathInfo.finalRequestPath, location.href).pathname;
    if (xhr.responseURL && new URL(xhr.responseURL).pathname !== asked) {
      event.detail.shouldSwap = false; // led elsewhere, as to the sign-in after the session ended
      location.reload();
      return;
    }
    const target = event.detail.target;
    const pane = target.closest("[data-follow]");
    const state = note(target.parentElement || target);
    if (pane) state.scroll.push([pane.id, pane.scrollTop, pane.scrollLeft, pane.scrollHeight - pane.scrollTop - pane.clientHeight < 24]);
    kept.set(event.detail.xhr, state);
  });

  document.addEventListener("htmx:afterSwap", (event) => {
    const state = kept.get(event.detail.xhr);
    if (!state) return;
    for (const [id, open] of state.open) {
      const found = document.getElementById(id);
      if (found) found.open = open;
    }
    for (const [id, top, left, atEnd] of state.scroll) {
      const found = document.getElementById(id);
      if (!found) continue;
      found.scrollLeft = left;
      found.scrollTop = atEnd && found.hasAttribute("data-follow") ? found.scrollHeight : top;
    }
  });

  const silence = (silent) => {
    const line = document.getElementById("connection");
    if (line) line.hidden = !silent;
  };
  document.addEventListener("htmx:sendError", () => silence(true));
  document.addEventListener("htmx:timeout", () => silence(true));
  document.addEventListener("htmx:afterOnLoad", () => silence(false));

  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-print]")) window.print();
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      if (!menu.contains(event.target)) menu.open = false;
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const menu of document.querySelectorAll("details.menu[open], details.sheet[open]")) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  });

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method !== "post" || event.defaultPrevented) return;
    if (form.dataset.sent) { event.preventDefault(); return; }
    form.dataset.sent = "1";
    form.setAttribute("aria-busy", "true");
  });
  window.addEventListener("pageshow", () => {
    for (const form of document.querySelectorAll("form[data-sent]")) {
      delete form.dataset.sent;
      form.removeAttribute("aria-busy");
    }
  });

  follow(document);
})();
