// Mounts Stripe's card element and confirms the payment; the server asks Stripe for the outcome itself.
"use strict";

(() => {
  const form = document.getElementById("pay");
  const fault = document.getElementById("fault");
  const button = form.querySelector("button");
  const stripe = Stripe(form.dataset.publishableKey);
  const card = stripe.elements().create("card");
  card.mount("#card");

  const say = (text) => {
    fault.textContent = text;
    fault.hidden = !text;
  };

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    say("");
    let result;
    try {
      result = await stripe.confirmCardPayment(form.dataset.clientSecret, { payment_method: { card } });
    } catch (error) {
      result = { error };
    }
    if (result.error) {
      say(result.error.message || form.dataset.failed);
      button.disabled = false;
      return;
    }
    form.submit();
  });
})();
