"use strict";
// All steps are in the page. The slider hides all but one.
for (const section of document.querySelectorAll("[data-steps]")) {
  const steps = section.querySelectorAll(".step"), control = section.querySelector(".control");
  const slider = control.querySelector("input"), output = control.querySelector("output");
  const show = () => {
    steps.forEach((step, i) => { step.hidden = i !== Number(slider.value); });
    output.textContent = (Number(slider.value) + 1) + " of " + steps.length;
  };
  slider.addEventListener("input", show);
  control.hidden = false;
  show();
}
document.documentElement.dataset.ready = "true";
