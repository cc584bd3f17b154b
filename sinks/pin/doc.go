// Package pin has the sinks that end in a wire or a datagram: a serial device (serial.go, firmata.go), the lines of a GPIO chip (gpio.go), and OSC
// over UDP (osc.go). Each writes the triggers of the rules that it is told, and nothing else.
//
// Sink (pin.go) is what they share: Write hands a trigger to a goroutine (driver.go) that owns the device, and never waits for it. What the device
// does not take is lost, counted, and told with a later Write (latent.NotTaken). A device that fails is opened again, once a second.
//
// A beginning that waited too long is not written, because a late pulse hits something else; an end always is. Where a device comes back, and at the
// end of the run, what it shows as on is set off.
package pin
