// Sign in; then the page that was asked for.
import { post } from "./api.js";
import { find } from "./dom.js";

find("sign-in")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  find("problem").textContent = "";
  try {
    await post("/api/sign-in", { name: form.elements.name.value, password: form.elements.password.value });
    location.assign(form.dataset.next);
  } catch (error) {
    find("waiting").hidden = true;
    find("problem").textContent = error.message;
    form.elements.password.select();
  }
});
