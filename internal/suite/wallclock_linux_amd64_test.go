package suite

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"
)

// asked is the environment variable of the process whose clock is stepped.
const asked = "DRIFTSCOPE_TEST_CLOCK"

func TestMain(m *testing.M) {
	if os.Getenv(asked) == "" {
		os.Exit(m.Run())
	}
	start := time.Now()
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		fmt.Println(time.Now().UnixNano(), int64(time.Since(start)))
	}
}

// TestStep: StepClock changes only the wall clock of the process, not its monotonic clock and not the clocks of other processes.
func TestStep(t *testing.T) {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), asked+"=1")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Process.Kill()
	began, answers := time.Now(), bufio.NewReader(out)
	var ready [2]int64 // an answer says that the program has been loaded
	fmt.Fprintln(in)
	if _, err := fmt.Fscanln(answers, &ready[0], &ready[1]); err != nil {
		t.Fatal(err)
	}
	const slow = 10 * time.Second // delay of a busy machine; a step is an hour
	for _, off := range []time.Duration{0, time.Hour, -time.Hour, 0} {
		if err := StepClock(c.Process.Pid, off); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(in)
		var wall, since int64
		if _, err := fmt.Fscanln(answers, &wall, &since); err != nil {
			t.Fatal(err)
		}
		if is := time.Until(time.Unix(0, wall)); is < off-slow || is > off+slow {
			t.Errorf("the clock is %v off, expected %v", is, off)
		}
		if s := time.Duration(since); s < 0 || s > time.Since(began)+slow {
			t.Errorf("%v have passed there, %v here", s, time.Since(began))
		}
	}
	in.Close()
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}
