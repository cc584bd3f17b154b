package system

import (
	"syscall"
	"testing"
)

// own returns the niceness of the calling goroutine's thread. The system call returns 20 minus the niceness.
func own(t *testing.T) int {
	p, err := syscall.Getpriority(syscall.PRIO_PROCESS, syscall.Gettid())
	if err != nil {
		t.Error(err)
	}
	return 20 - p
}

// Thread lowers only the priority of the calling goroutine's thread, and not of goroutines started before or after.
func TestThread(t *testing.T) {
	before, asked := make(chan int, 1), make(chan int, 1)
	go func() {
		before <- own(t)
		Thread()
		asked <- own(t)
	}()
	if b, a := <-before, <-asked; a != max(b, niceness) {
		t.Errorf("a niceness of %d, before %d, want %d", a, b, niceness)
	}
	for range 16 {
		after := make(chan int)
		go func() { after <- own(t) }()
		if a := <-after; a >= niceness {
			t.Errorf("another thread has a niceness of %d", a)
		}
	}
}
