// Command cronoracle says what the cron libraries of Velero and Kubernetes make of expressions.
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

	netresearch "github.com/netresearch/go-cron"
	robfig1 "github.com/robfig/cron"
	robfig "github.com/robfig/cron/v3"
)

// patience is far beyond what a search takes: the libraries never end one that meets a day which a zone left out.
const patience = 5 * time.Second

// schedule is what the three have in common.
type schedule interface {
	Next(after time.Time) time.Time
}

var libraries = map[string]func(expr string) (schedule, error){
	"ROBFIG1":     func(expr string) (schedule, error) { return robfig1.ParseStandard(expr) },
	"ROBFIG":      func(expr string) (schedule, error) { return robfig.ParseStandard(expr) },
	"NETRESEARCH": func(expr string) (schedule, error) { return netresearch.ParseStandard(expr) },
}

type question struct {
	Dialect string    `json:"dialect"`
	Expr    string    `json:"expr"`
	Zone    string    `json:"tz"`
	From    time.Time `json:"from"`
	Count   int       `json:"count"`
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
	read, known := libraries[asked.Dialect]
	if !known {
		log.Fatalf("no library is called %q", asked.Dialect)
	}
	parsed, panicked, err := parse(read, asked.Expr)
	if err != nil {
		return answer{Error: err.Error(), Panic: panicked}
	}
	zone, err := time.LoadLocation(asked.Zone)
	if err != nil {
		log.Fatalf("the question's own zone: %v", err)
	}
	found := make(chan []*time.Time, 1)
	go func() { found <- runs(parsed, asked.From.In(zone), asked.Count) }()
	select {
	case next := <-found:
		return answer{Next: next}
	case <-time.After(patience):
		return answer{Hang: true}
	}
}

func parse(read func(string) (schedule, error), expr string) (parsed schedule, panicked bool, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			panicked, err = true, fmt.Errorf("%v", cause)
		}
	}()
	parsed, err = read(expr)
	return parsed, false, err
}

func runs(parsed schedule, after time.Time, count int) []*time.Time {
	var found []*time.Time
	for range count {
		after = parsed.Next(after)
		if after.IsZero() {
			return append(found, nil)
		}
		run := after.UTC()
		found = append(found, &run)
	}
	return found
}
