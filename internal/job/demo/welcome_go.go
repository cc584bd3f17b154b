//go:build !cgo

package demo

const welcome = `Driftscope watches a microscope's feed and reports what moves, by which law, and when the law changes.
This build is for the microscope's PC: it sends frames to a computer that tracks them, and shows the results.

  driftscope probe FOLDER               look into your recording
  driftscope publish FOLDER --follow --subject camera.NAME --nats nats://HOST:4222
                                        send it while it grows; the other computer runs driftscope run nats:camera.NAME
  driftscope watch --nats nats://HOST:4222
                                        print the results
  driftscope --help                     list all commands; COMMAND --help lists its flags

First steps: docs/howto/desk.md
`
