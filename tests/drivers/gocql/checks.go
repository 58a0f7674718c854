package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"time"
)

var answers = bufio.NewReader(os.Stdin)

func say(line map[string]any) {
	text, _ := json.Marshal(line)
	fmt.Println(string(text))
}

// check runs one check; whatever it panics with is what went wrong.
func check(feature, detail string, body func()) {
	defer func() {
		if wrong := recover(); wrong != nil {
			say(map[string]any{"check": feature, "ok": false, "detail": fmt.Sprintf("%s: %v", detail, wrong)})
		}
	}()
	body()
	say(map[string]any{"check": feature, "ok": true, "detail": detail})
}

func notOffered(feature, why string) {
	say(map[string]any{"check": feature, "ok": nil, "detail": why})
}

// restart has the server restarted; false when it is not ours to restart.
func restart() bool {
	say(map[string]any{"ask": "restart"})
	answer, _ := answers.ReadString('\n')
	return answer == "done\n"
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func same(expected, found any) {
	if !reflect.DeepEqual(expected, found) {
		panic(fmt.Sprintf("expected %#v, found %#v", expected, found))
	}
}

// failsAs tells that the error is of the type of the target, a pointer to such an error.
func failsAs(err error, target any) {
	if err == nil || !errors.As(err, target) {
		panic(fmt.Sprintf("expected %T, found %T %v", target, err, err))
	}
}

func eventually(limit time.Duration, holds func() bool) {
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if holds() {
			return
		}
	}
	panic(fmt.Sprintf("not within %v", limit))
}
