// Sign in; then the page that was asked for. The page waits for this script before it shows the form (it is no module),
// so that whoever is quick never sends the form without it.
document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (form.id !== "sign-in") return;
  event.preventDefault();
  const problem = document.getElementById("problem");
  problem.textContent = "";
  try {
    const { post } = await import("./api.js");
    await post("/api/sign-in", { name: form.elements.name.value, password: form.elements.password.value });
    location.assign(form.dataset.next);
  } catch (error) {
    document.getElementById("waiting").hidden = true;
    problem.textContent = error.message;
    form.elements.password.select();
  }
});
