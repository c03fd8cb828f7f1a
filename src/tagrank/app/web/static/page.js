// What every page does.
import { attempt, post } from "./api.js";
import { deliver, waiting } from "./decisions.js";
import { find } from "./dom.js";

find("sign-out")?.addEventListener("click", () => attempt(async () => {
  await deliver();
  const question = "Some decisions were not sent yet. They stay in this browser until you sign in again. Sign out?";
  if (waiting().length && !confirm(question)) return;
  await post("/api/sign-out");
  location.assign("/sign-in");
}));
document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
