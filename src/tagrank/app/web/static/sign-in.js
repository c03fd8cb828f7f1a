// Sign in; then the page that was asked for.
import { post } from "./api.js";
import { find } from "./dom.js";

const form = find("sign-in");
form?.addEventListener("submit", async (event) => {
  event.preventDefault();
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
// before this line the browser would send the form by itself
if (form) form.querySelector("button").disabled = false;
