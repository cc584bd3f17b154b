// Package alarm detects frames that must not be learnt from, and changes of the law.
//
// Monitor begins and ends alarms, and writes their events. Every alarm begins with an event of level warning and ends with one of level info.
// frame.go says which frames are held back (15), change.go how evidence for a change adds up (16).
//
// A is the number of frames between false alarms. The evidence exceeds A in one of A frames at most, whatever the noise and the time steps.
//
// The change statistic is from Shiryaev (1963), Roberts (1966) and Pollak (1985).
package alarm
