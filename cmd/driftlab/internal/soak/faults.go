package soak

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"driftscope/internal/suite"
)

// faults returns all kinds of fault. Each undoes its effect before it returns.
func (r *rig) faults() []*fault {
	a, b, c := r.programs[0], r.programs[1], r.programs[2]
	noDisk := ""
	if r.disk == "" {
		noDisk = "a small disk cannot be mounted: run the soak as root"
	}
	faults := []*fault{
		{name: "kill -9 of the program with the server inside", hits: []string{"a"}, when: early, happen: r.killProgram(a)},
		{name: "kill -9 of a program", hits: []string{"b"}, when: early, happen: r.killProgram(b)},
		{name: "kill -9 of a program, to the end", hits: []string{"c"}, when: throughout, happen: r.killProgram(c)},
		{name: "kill -9 of the server", hits: []string{"server"}, when: throughout, happen: func(ctx context.Context, rng *rand.Rand) {
			r.server.kill()
			time.Sleep(between(rng, 300*time.Millisecond, 6*time.Second))
			if err := r.server.start(); err != nil {
				r.audit.wrong("the server: %v", err)
			}
		}},
		{name: "SIGSTOP of the server", hits: []string{"server"}, when: throughout, happen: stopped(r.server, 8*time.Second)},
		{name: "SIGSTOP of the program with the server inside", hits: []string{"a"}, when: throughout, happen: stopped(a.process, 6*time.Second)},
		{name: "SIGSTOP of a program", hits: []string{"b"}, when: throughout, happen: stopped(b.process, 6*time.Second)},
		{name: "SIGSTOP of the camera", hits: []string{"camera"}, when: throughout, happen: stopped(r.camera, 9*time.Second)},
		{name: "camera lost, and back", hits: []string{"camera"}, when: throughout, happen: func(ctx context.Context, rng *rand.Rand) {
			r.camera.kill()
			time.Sleep(between(rng, time.Second, 9*time.Second))
			if err := r.camera.start(); err != nil {
				r.audit.wrong("the camera: %v", err)
			}
		}},
		{name: "network: nothing passes", hits: []string{"link"}, when: throughout, happen: r.turned(suite.Held, 9*time.Second)},
		{name: "network: connections cut", hits: []string{"link"}, when: throughout, happen: r.turned(suite.Cut, 9*time.Second)},
		{name: "network: slow", hits: []string{"link"}, when: throughout, happen: r.turned(suite.Slowed, 9*time.Second)},
		{name: "disk full", hits: []string{"disk"}, when: throughout, happen: r.fillDisk, left: noDisk},
		{name: "delivered part of a spool damaged", hits: []string{"c", "link"}, when: throughout, happen: r.damagedSpools(c)},
		{name: "the clock of the program with the server inside, an hour off", hits: []string{"a"}, when: throughout, happen: r.steppedClock(a.process)},
		{name: "the clock of a program, an hour off", hits: []string{"b"}, when: throughout, happen: r.steppedClock(b.process)},
		{name: "the clock of the server, an hour off", hits: []string{"server"}, when: throughout, happen: r.steppedClock(r.server)},
		{name: "consumers that read nothing, embedded server", hits: []string{"readers a"}, when: throughout, happen: r.stalled(&r.ports.embedded, r.embedded)},
		{name: "consumers that read nothing, server", hits: []string{"readers b"}, when: throughout, happen: r.stalled(&r.ports.server, r.outside)},
	}
	for i, p := range r.publishers {
		faults = append(faults, framesOf(p, fmt.Sprintf("frames of camera.%c: ", 'a'+i))...)
	}
	return append(faults, r.commandFaults()...)
}

// framesOf returns the faults of a publisher of frames.
func framesOf(p *publisher, name string) []*fault {
	hits := []string{p.subject}
	return []*fault{
		{name: name + "150 that are none", hits: hits, when: throughout, happen: func(_ context.Context, rng *rand.Rand) { p.junk(rng, 150) }},
		{name: name + "torn", hits: hits, when: throughout, happen: func(_ context.Context, rng *rand.Rand) { p.torn(rng, 12) }},
		{name: name + "late, and again", hits: hits, when: throughout, happen: func(_ context.Context, rng *rand.Rand) { p.late(rng, 12) }},
		{name: name + "two publishers at once", hits: hits, when: throughout, happen: func(ctx context.Context, rng *rand.Rand) {
			p.second(ctx, between(rng, time.Second, 4*time.Second))
		}},
		{name: name + "the publisher restarts", hits: hits, when: throughout, happen: func(context.Context, *rand.Rand) { p.begin() }},
	}
}

// killProgram kills a program and starts it again.
func (r *rig) killProgram(p *program) func(context.Context, *rand.Rand) {
	return func(_ context.Context, rng *rand.Rand) {
		p.process.kill()
		r.restart(p, between(rng, 300*time.Millisecond, 3*time.Second))
	}
}

// stopped freezes a process for a while.
func stopped(p *process, most time.Duration) func(context.Context, *rand.Rand) {
	return func(_ context.Context, rng *rand.Rand) {
		if p.signal(syscall.SIGSTOP) {
			time.Sleep(between(rng, most/4, most))
			p.signal(syscall.SIGCONT)
		}
	}
}

// steppedClock sets the wall clock of a process an hour ahead or back for a while.
func (r *rig) steppedClock(p *process) func(context.Context, *rand.Rand) {
	return func(ctx context.Context, rng *rand.Rand) {
		off := time.Hour
		if rng.IntN(2) == 0 {
			off = -off
		}
		pid, _, _ := p.alive()
		for _, to := range []time.Duration{off, 0} {
			if now, _, _ := p.alive(); pid == 0 || now != pid {
				return // the process was restarted and uses the machine's clock again
			}
			if err := suite.StepClock(pid, to); err != nil {
				r.audit.wrong("the soak itself: %v", err)
				return
			}
			if to != 0 {
				pause(ctx, between(rng, 3*time.Second, 15*time.Second))
			}
		}
	}
}

// unstepped corrects a time from a process whose clock may be some hours off, if the time was received within half an hour.
func unstepped(t time.Time) time.Time { return t.Add(-time.Until(t).Round(time.Hour)) }

// turned returns a fault that changes the state of the link for a while.
func (r *rig) turned(way suite.Way, most time.Duration) func(context.Context, *rand.Rand) {
	return func(_ context.Context, rng *rand.Rand) {
		r.link.Turn(way)
		time.Sleep(between(rng, most/4, most))
		r.link.Turn(suite.Whole)
	}
}

// fillDisk fills the small disk for a while.
func (r *rig) fillDisk(_ context.Context, rng *rand.Rand) {
	name := filepath.Join(r.disk, "somebody's")
	f, err := os.Create(name)
	if err != nil {
		r.audit.wrong("the soak itself: %v", err)
		return
	}
	end := time.Now().Add(between(rng, 3*time.Second, 10*time.Second))
	for block := make([]byte, 4096); time.Now().Before(end); {
		if _, err := f.Write(block); errors.Is(err, syscall.ENOSPC) {
			time.Sleep(100 * time.Millisecond) // fill the room that confirmed messages free, too
		}
	}
	f.Close()
	os.Remove(name)
}

// stalledReaders is the number of consumers that stall at once.
const stalledReaders = 20

// stalled starts subscribers to all subjects that read nothing for a while, or a byte now and then, and publishes more than their sockets can buffer.
func (r *rig) stalled(port *int, h *hub) func(context.Context, *rand.Rand) {
	return func(ctx context.Context, rng *rand.Rand) {
		for i := range stalledReaders {
			c, err := stalledReader(*port)
			if err != nil {
				continue // the server does not run
			}
			defer c.Close()
			if i%2 == 1 {
				go sip(c)
			}
		}
		block := make([]byte, 256<<10)
		for range 64 {
			h.nc.Publish("driftscope.local.flood.view", block)
			if !pause(ctx, 20*time.Millisecond) {
				return
			}
		}
		pause(ctx, between(rng, 3*time.Second, 15*time.Second))
	}
}

// sip reads a byte ten times per second until the connection ends.
func sip(c net.Conn) {
	for one := make([]byte, 1); ; time.Sleep(100 * time.Millisecond) {
		if _, err := c.Read(one); err != nil {
			return
		}
	}
}

// stalledReader subscribes to all subjects and never reads from its connection.
func stalledReader(port int) (net.Conn, error) {
	narrow := net.Dialer{Timeout: time.Second, Control: func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) { syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096) })
	}}
	c, err := narrow.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, err
	}
	if _, err := c.Write([]byte("CONNECT {\"verbose\":false}\r\nSUB driftscope.> 1\r\n")); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// damagedSpools kills a program that is delivering its spools, damages the delivered part of each, and starts the program again.
func (r *rig) damagedSpools(p *program) func(context.Context, *rand.Rand) {
	return func(_ context.Context, rng *rand.Rand) {
		r.link.Turn(suite.Slowed) // messages must wait, so the spools record the delivered messages every second
		time.Sleep(between(rng, 3*time.Second, 6*time.Second))
		p.process.kill()
		r.link.Turn(suite.Whole)
		positions, _ := filepath.Glob(filepath.Join(p.process.folder, "store", "spool", "*", "position.*"))
		r.say("  %d positions of spools", len(positions))
		for _, file := range positions {
			if err := damageDelivered(rng, file); err != nil {
				r.audit.wrong("the soak itself: %v", err)
			}
		}
		r.restart(p, between(rng, 300*time.Millisecond, 3*time.Second))
	}
}

// damageDelivered flips a byte before the position recorded in a spool's file. Every other time it flips a byte of this file instead.
func damageDelivered(rng *rand.Rand, file string) error {
	text, err := os.ReadFile(file)
	if err != nil || len(text) == 0 {
		return err
	}
	var segment uint64
	var offset int64
	if n, _ := fmt.Sscanf(string(text), "%d %d", &segment, &offset); n == 2 && offset > 0 && rng.IntN(2) == 0 {
		delivered, err := filepath.Glob(filepath.Join(filepath.Dir(file), fmt.Sprintf("%016x.*", segment)))
		if err != nil || len(delivered) == 0 {
			return err
		}
		return flip(delivered[0], rng.Int64N(offset))
	}
	return flip(file, rng.Int64N(int64(len(text))))
}

// flip inverts the byte of a file at a position, if the file is long enough.
func flip(file string, at int64) error {
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	one := make([]byte, 1)
	if _, err := f.ReadAt(one, at); err != nil {
		return nil // it is shorter
	}
	one[0] ^= 0xff
	_, err = f.WriteAt(one, at)
	return err
}
