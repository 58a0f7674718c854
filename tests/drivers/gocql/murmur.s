// Lets routing.go name a function of the driver's without a body.
