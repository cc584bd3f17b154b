package system

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// asChild makes the test binary act as a child; its argument selects the behaviour.
func asChild() {
	if len(os.Args) == 2 && os.Args[1] == "say" {
		folder, _ := os.Getwd()
		fmt.Println("in", folder)
		os.Exit(3)
	}
	if len(os.Args) == 2 && os.Args[1] == "hang" {
		time.Sleep(time.Hour)
	}
}

// TestRunChild: a command runs in its folder, and RunChild returns how it ended with its last lines. A command that hangs ends with ctx.
func TestRunChild(t *testing.T) {
	folder := t.TempDir()
	how, err := RunChild(t.Context(), folder, "say")
	if err != nil || !strings.HasPrefix(how, "exit status 3: in ") || !strings.HasSuffix(how, folder) {
		t.Errorf("%q, %v", how, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	if _, err := RunChild(ctx, folder, "hang"); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > time.Minute {
		t.Errorf("%v after %v", err, time.Since(began))
	}
	if _, err := RunChild(t.Context(), folder+"/none", "say"); err == nil {
		t.Error("it ran in a folder that is not there")
	}
}
