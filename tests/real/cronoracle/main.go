// Command cronoracle says what robfig/cron, which Velero and Kubernetes use, makes of cron expressions.
//
// It reads one JSON question a line and writes one JSON answer a line, in the same order.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"github.com/robfig/cron/v3"
)

// patience is far beyond what a search takes: the library never ends one that meets a day which a zone left out.
const patience = 5 * time.Second

type question struct {
	Expr  string    `json:"expr"`
	Zone  string    `json:"tz"`
	From  time.Time `json:"from"`
	Count int       `json:"count"`
}

// answer has an Error for what does not parse; else the runs, the last of them null where none follows.
type answer struct {
	Error string       `json:"error,omitempty"`
	Panic bool         `json:"panic,omitempty"`
	Hang  bool         `json:"hang,omitempty"`
	Next  []*time.Time `json:"next"`
}

func main() {
	questions, answers := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var asked question
		if err := questions.Decode(&asked); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			log.Fatalf("a question cannot be read: %v", err)
		}
		if err := answers.Encode(consult(asked)); err != nil {
			log.Fatalf("an answer cannot be written: %v", err)
		}
	}
}

func consult(asked question) answer {
	schedule, panicked, err := parse(asked.Expr)
	if err != nil {
		return answer{Error: err.Error(), Panic: panicked}
	}
	zone, err := time.LoadLocation(asked.Zone)
	if err != nil {
		log.Fatalf("the question's own zone: %v", err)
	}
	found := make(chan []*time.Time, 1)
	go func() { found <- runs(schedule, asked.From.In(zone), asked.Count) }()
	select {
	case next := <-found:
		return answer{Next: next}
	case <-time.After(patience):
		return answer{Hang: true}
	}
}

func parse(expr string) (schedule cron.Schedule, panicked bool, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			panicked, err = true, fmt.Errorf("%v", cause)
		}
	}()
	schedule, err = cron.ParseStandard(expr)
	return schedule, false, err
}

func runs(schedule cron.Schedule, after time.Time, count int) []*time.Time {
	var found []*time.Time
	for range count {
		after = schedule.Next(after)
		if after.IsZero() {
			return append(found, nil)
		}
		run := after.UTC()
		found = append(found, &run)
	}
	return found
}
