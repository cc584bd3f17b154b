//go:build cgo

package demo

const welcome = `Driftscope watches a microscope's feed and says what moves, by which law, and when the law changes.

  driftscope demo                       a real film, and its dashboard in your browser
  driftscope doctor                     are cameras, codecs, ports and folders ready? What mends what is not
  driftscope sources                    what can be read, and the cameras of this computer
  driftscope probe FILM                 what is in a film of yours, and a configuration to start from
  driftscope run FILM --objects         follow every object in it
  driftscope --help                     every command; COMMAND --help says its flags

First steps: docs/tutorial.md
`
