//go:build cgo

package demo

const welcome = `Driftscope watches a microscope's feed and reports what moves, by which law, and when the law changes.

  driftscope demo                       track a real film, with its dashboard in your browser
  driftscope doctor                     check cameras, codecs, ports and folders, and fix problems
  driftscope sources                    list readable formats, and the cameras of this computer
  driftscope probe FILM                 look into your film, and write a configuration to start from
  driftscope run FILM --objects         follow every object in it
  driftscope --help                     list all commands; COMMAND --help lists its flags

First steps: docs/tutorial.md
`
