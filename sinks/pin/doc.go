// Package pin implements the sinks that write triggers to devices: gpio, serial and osc. Each writes the triggers of its rules, and nothing else.
//
// Sink (pin.go) is the shared part. Write passes a trigger to a goroutine (driver.go) that owns the device, and never waits for the device. Triggers that the
// device does not accept are lost. Sink counts them and reports them with a later Write (latent.NotTaken). It tries to reopen a failed device once a second.
//
// The beginning of a condition is dropped if it waited too long, because a late pulse hits the wrong event. An end is always written. When a device returns,
// and at the end of the run, the driver turns off every rule that is on at the device.
package pin
