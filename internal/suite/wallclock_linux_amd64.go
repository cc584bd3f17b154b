package suite

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// code replaces __vdso_clock_gettime. It calls the kernel, and adds the number of seconds stored after the code to CLOCK_REALTIME. Other clocks stay the same.
var code = []byte{
	0xb8, 0xe4, 0, 0, 0, // mov eax, SYS_clock_gettime
	0x0f, 0x05, // syscall
	0x85, 0xff, // test edi, edi: CLOCK_REALTIME is 0
	0x75, 0x0a, // jne over the next two
	0x48, 0x8b, 0x0d, 6, 0, 0, 0, // mov rcx, [rip+6]: the seconds
	0x48, 0x01, 0x0e, // add [rsi], rcx
	0xc3, // ret
	0, 0, // padding
}

const stopPatience = 5 * time.Second // time until a process stops outside the function, on a busy machine

// StepClock shifts the wall clock of process pid by off, in whole seconds, relative to the machine's clock. 0 restores the clock. The caller may have to be
// root or the parent of the process. Child processes use the machine's clock.
func StepClock(pid int, off time.Duration) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("wall clock of process %d: %w", pid, err)
		}
	}()
	memory, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", pid), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer memory.Close()
	at, size, err := function(pid, memory)
	if err != nil {
		return err
	}
	if size < uint64(len(code)+8) || at%8 != 0 {
		return fmt.Errorf("__vdso_clock_gettime has %d bytes at %#x, expected %d at least at a multiple of 8", size, at, len(code)+8)
	}
	text := binary.LittleEndian.AppendUint64(bytes.Clone(code), uint64(int64(off/time.Second)))
	for end := time.Now().Add(stopPatience); ; time.Sleep(time.Millisecond) {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			return err
		}
		inside, err := within(pid, at, at+size)
		if err == nil && !inside {
			_, err = memory.WriteAt(text, int64(at))
		}
		if err := errors.Join(err, syscall.Kill(pid, syscall.SIGCONT)); err != nil || !inside {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("a thread was reading the clock whenever the process was stopped in %v", stopPatience)
		}
	}
}

// function returns the address and length of a process's __vdso_clock_gettime.
func function(pid int, memory io.ReaderAt) (at, size uint64, err error) {
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(maps)) {
		if !strings.HasSuffix(strings.TrimSpace(line), "[vdso]") {
			continue
		}
		var begin, end uint64
		if _, err := fmt.Sscanf(line, "%x-%x", &begin, &end); err != nil {
			return 0, 0, err
		}
		image := make([]byte, end-begin)
		if _, err := memory.ReadAt(image, int64(begin)); err != nil {
			return 0, 0, err
		}
		file, err := elf.NewFile(bytes.NewReader(image))
		if err != nil {
			return 0, 0, err
		}
		symbols, err := file.DynamicSymbols()
		if err != nil {
			return 0, 0, err
		}
		for _, s := range symbols {
			if s.Name == "__vdso_clock_gettime" {
				return begin + s.Value, s.Size, nil
			}
		}
	}
	return 0, 0, errors.New("no vDSO with __vdso_clock_gettime")
}

// within waits until every thread of a process is stopped, and reports whether one is inside a range of code.
func within(pid int, begin, end uint64) (inside bool, err error) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	if err != nil {
		return false, err
	}
	for _, thread := range threads {
		var fields []string
		for deadline := time.Now().Add(stopPatience); ; time.Sleep(time.Millisecond) {
			text, err := os.ReadFile(filepath.Join(thread, "syscall"))
			if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
				break // the thread has ended
			}
			if err != nil {
				return false, err
			}
			if fields = strings.Fields(string(text)); len(fields) > 1 {
				break
			}
			if time.Now().After(deadline) {
				return false, fmt.Errorf("thread %s runs %v after SIGSTOP: %s", filepath.Base(thread), stopPatience, bytes.TrimSpace(text))
			}
		}
		if len(fields) == 0 {
			continue
		}
		counter, err := strconv.ParseUint(fields[len(fields)-1], 0, 64) // the last field is the program counter
		if err != nil {
			return false, err
		}
		inside = inside || begin <= counter && counter < end
	}
	return inside, nil
}
