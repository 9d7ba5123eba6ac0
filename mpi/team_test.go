package mpi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weft-mpi/weft/internal/launch"
	"github.com/weft-mpi/weft/internal/testkit/tier"
	"github.com/weft-mpi/weft/mpi"
)

// The suite between processes: the test binary is started n times as one job.
// All its processes run the same tests in step, and where a test runs n ranks,
// each process is one of them.

// teamVar holds the folder that the processes of such a job share.
const teamVar = "WEFT_MPI_TEST_TEAM"

// team is this process's place in such a job, nil elsewhere.
var team *crew

type crew struct {
	job     *launch.Job
	fabric  string
	dir     string
	memory  []byte // see shared
	used    int
	signals int
	ran     map[string]time.Duration // tests that had a job of ours
	jobs    int                      // of tests, by now
}

// notBetweenProcesses are the tests that do not run there, by the reason.
var notBetweenProcesses = map[string][]string{
	"its ranks are processes anyway": {
		"TestProcessesExchangeMessagesOfEverySize", "TestARankBlockedInRecvUsesNoProcessor", "TestAKilledRankFailsTheOperationsOfTheOther",
		"TestSharedMemoryAndTheNetworkTogether", "TestAFloodTakesABoundedPartOfTheReceiver", "TestSIGQUITReports", "TestTheSuiteBetweenProcesses",
		"TestRunTakesItsPartOfALaunchedJob", "TestRunWithoutALauncherMakesGoroutines", "TestRunOfAnotherNumberThanWasLaunchedSaysBoth",
		"TestRunOfDifferentNumbersFailsAtAll", "TestALaunchedRunOnMemIsRefused", "TestAProcessTakesPartInItsJobOnce",
		"TestALaunchedRankThatFailsFailsTheOthers", "TestAPanicEndsALaunchedRank", "TestAFailedRunIsNoSuccessOfTheJob",
		"TestRunBelowALauncherItCannotUseSaysSo", "TestRunUnderHydra", "TestFabricsUnderHydra", "TestFabricsUnderSlurm",
		"TestRanksInTwoNetworkNamespacesAreToldSo", "TestAJobThatSucceedsPrintsNothingOfItsOwn",
		"TestAFatalErrorEndsALaunchedJob", "TestAbortUnderHydra", "TestAbortUnderSlurm",
		"TestADeathHangsNoSurvivor", "TestAbortEndsTheJob", "TestSharedMemoryDoesNotJoinNodes",
		"TestRanksOnHostsUseSharedMemoryWithinAndTCPBetween", "TestAMomentWithoutNetworkLosesNothing", "TestHydraStartsRanksOnHosts",
		"TestLaunchedProcessesMakeSessionsAgain", "TestSessionsUnderHydra", "TestASessionAfterTheWorldIsToldWhatToDo", "TestARankMayExitBehindItsLastFinalize",
		"TestALaunchedRankThatKeepsASessionOpenHasNotLeft", "TestSessionsOfAProcessWithoutALauncher", "TestALaunchedRankThatFailsInRunSessions",
		"TestAFatalErrorOfASessionEndsTheJob", "TestLaunchedRanksRefuseAnUnknownVariable", "TestRandomDeathsOfProcesses", "TestTheSurvivorsOfADeathKeepTheirTraces",
		"TestAProcessDiesThatAnySourceMightBe",
	},
	"a rank that fails there leaves, since its process goes on": {"TestReceivesFromAnySourceArePending", "TestRequestsForAnySourceStayAfterADeath"},
	"it weighs the memory of the process that all ranks have":   {"TestManyWindowsTakeLittleMemory"},
	"it has no job, or one of a single rank, which has no transport to itself": {
		"TestNobodyTakesAndGivesBufs", "TestACancelledReceiveLeavesItsBuf", "TestABufferedSendOfABufTakesItsPackedSize", "TestPartitionsOfBufsToOneself",
		"TestPartitionsOfBufsAreRefused", "TestReduceLocalOnBufs", "TestOperatorsThatDoNotFitBufs", "TestSignaturesAreThoseOfTheElements",
		"TestNilIsAnError", "TestNothingPanicsOnNil", "TestMethodsOfNilAnswerErrComm", "TestWtimeCountsSeconds", "TestTheEnvironmentIsTold",
		"TestEveryErrorOfACommunicatorsCallsPassesItsHandlerOnce", "TestADuplicateHasTheHandlerOfItsParent", "TestAHandlerThatReturnsNilLeavesTheError",
		"TestOnlyTheHandlerOfTheFirstFailedRequestIsCalled", "TestTheRequestOfAFreedCommunicatorHasItsHandler", "TestErrorsWithoutACommunicatorAreSelfs",
		"TestAFinalizedWorldCallsNoHandler", "TestFreedCommunicatorsWithHandlersAreForgotten", "TestInterfacesThatAreNilAreValues",
		"TestFinalizeTellsThatADeleteHasFailed", "TestAFreedKeyvalTakesNoValues", "TestADeleteFunctionMayCallButNotForItsOwn",
		"TestManyGoroutinesSetOneAttribute", "TestInfoKeepsTheOrderOfItsKeys", "TestInfoRefusesWhatIsTooLong", "TestInfoIsAnOrderedMap",
		"TestClassesAndCodesOfTheProgram", "TestGoroutinesAddClassesOfDifferentNumbers", "TestEveryThreadMayCallAndOneIsMain",
		"TestGoDocShowsWhatAUserHolds", "TestDocsCiteTheSectionOfEachFunction", "TestCoverage", "TestCoverageKnowsEveryName", "TestSpecialNumbersHaveMPI5sValues", "TestErrorClassesHaveMPI5sValues",
		"TestNoProcessIsAPartnerForNothing", "TestACompletedRequestIsToldFromItsSuccessors", "TestNullRequestsAreComplete",
		"TestAllocRefusesSizesThatCannotBe", "TestTypesThatHoldPointersDoNotCompile", "TestTheEnvironmentTurnsChecksOn", "TestTheEnvironmentTurnsWindowChecksOn",
		"TestARankWhoseGoroutineEndsFailsTheOthers", "TestNoLoggerIsTheDefaultOne", "TestFreeRefusesWhatIsNotAllocs", "TestRunRefusesWhatItCannotRun",
		"TestEveryClassHasItsTextAndIsToldFromOthers", "TestCountIsInElements", "TestACommunicatorsOwnMemoryComesFirst",
		"TestAttachedMemoryIsReused", "TestAPersistentBufferedSendThatFoundNoRoomStartsAgain", "TestEveryCompletionTellsOfACancel",
		"TestCancelOfWhatIsMatchedChangesNothing", "TestRequestStatusLeavesTheRequest", "TestSomeGiveAllThatHaveEnded",
		"TestNoRequestsAreComplete", "TestAStaleHandleLeavesTheOthersPending", "TestOnCompleteRefusesWhatNobodyHasStarted",
		"TestADeadlineAndACauseAreTold", "TestEveryCompletionAsksAGeneralizedRequest", "TestErrorsOfAGeneralizedRequestAreTheCallsOwn",
		"TestCancelCallsTheGeneralizedRequestsOwn", "TestAGeneralizedRequestIsFreedThoughNobodyWaits", "TestFreeRunsInTheCallThatComesLast", "TestFinalizeEndsGeneralizedRequests",
		"TestAGeneralizedRequestHasNoPeer", "TestComparisonsHaveNames", "TestNilGroupsAreErrors",
		"TestASynchronousSendToOneselfEndsWithTheReceive", "TestPersistentRequestsToOneself", "TestInactiveRequestsCountAsNull",
		"TestAnActivePersistentRequestIsNotStarted", "TestPersistentRequestsOfNoProcess", "TestAProbeFindsMessagesToOneself",
		"TestAReceivedMessageIsToldFromItsSuccessors", "TestAMatchedProbeOfNobodyGivesMessageNoProc",
		"TestPartitionsToOneself", "TestAReportSaysWhichPartitionsAreMissing", "TestPartitionsAreRefused", "TestPartitionsOfNoProcess",
		"TestAFinalizedSessionIsRefused", "TestGroupsOfTwoSessionsDoNotMix", "TestASessionsHandlerSeesItsErrorsOnce", "TestASessionTellsItsThreadLevel",
		"TestCreateGroupTakesHandlerAndContextOfItsParent", "TestEveryErrorOfAWindowsCallsPassesItsHandlerOnce", "TestHandlersAreForOneKindOfObject",
		"TestErrorsOfTheLayersBelowWindowsHaveClasses", "TestOneGoroutineFreesAWindow",
		"TestASettingHasItsValueAndItsOrigin", "TestTheDefaultLimitsAreToldAsTheyAre", "TestTheThresholdOfSharedMemoryIsMeasured",
		"TestAWrongValueIsAnErrorOfItsSetting", "TestAnEnvironmentThatCannotBeIsRefused",
		"TestRandomDatatypesAreTheirTypemaps", "TestRandomBufsArePackedAsTheirTypemapsSay", "TestStatusesCountWhatTypemapsSay", "TestContentsMakeATypeAgain",
		"TestConstructorsNameTheBadArgument", "TestBadPacksChangeNothing", "TestStatusesOfNoTypesAreUndefined", "TestAddressesGiveDisplacements",
		"TestATypeHasAttributesUntilItsFree", "TestAPredefinedTypeHasAttributes", "TestDupCopiesAttributesThatCanBeCopied", "TestOneGoroutineFreesAType",
		"TestWhatBelongsToAllIsNotFreed", "TestTypesHaveNames", "TestTypesOfGoTypesHaveContents", "TestListsOfTypesAreCopied",
		"TestViewsOutsideOfTheirSlicesAreRefused", "TestAViewOfAKnownShapeAllocatesNothing", "TestGoroutinesMakeViewsOfManyShapes", "TestTheDatatypesPageIsTrue",
		"TestTopologiesAreNotChangedByWhatIsMadeOfThem", "TestCountsAndLimitsThatCannotBe", "TestBuffersThatOverlapAreRefused", "TestSignaturesComeInPieces", "TestAMessageWithoutASignatureIsRefused",
	},
	"its ranks are goroutines anyway": {
		"TestABarrierOfManyGoroutinesEndsSoon", "TestABufferIsTheUsersWhenAnEndedWorldGivesItBack", "TestStormsOfCancelsTakeLinearTime",
		"TestNobodyLeavesABarrierByFlagsBeforeAllHaveCome", "TestAbortEndsRanksThatAreGoroutines", "TestTheFirstAbortCounts",
		"TestGoroutinesShareTheirProcesssHardware",
		"TestEachRankOfSeveralWorldsListens", "TestWithoutPeekNobodyListens", "TestQuestionsDoNotDisturbRanks", "TestARankInFinalizeReplies", "TestABusyOwnerIsTold", "TestARankLeavesItsLastCounters", "TestStatesOfRanksNameTheCause",
		"TestSessionsAreMadeAgain", "TestRunSessionsTellsOfFailures", "TestAnAbortEndsSessions",
		"TestATraceThatCannotBeWrittenIsRefusedAtOnce", "TestWithoutATraceThereIsNoFile", "TestTheEnvironmentAsksForATrace", "TestRanksThatCannotHandOverTheirTracesKeepThem",
		"TestACMPIGivesTheSameResults", "TestErrorsOfCallsWithoutAnObjectAreSelfs", "TestAnErrorWithoutAnObjectMayBeFatal",
	},
	"it mixes two Worlds of one process":            {"TestRequestsOfTwoWorldsDoNotMix", "TestGroupsOfTwoWorldsDoNotMix"},
	"it waits for what the watchdogs of both say":   {"TestTheWatchdogSaysWhyRanksHang", "TestTheWatchdogSaysThatABarrierHangs"},
	"each process would take 8 GB of memory for it": {"TestAMessageOfMoreThan4GBComesWhole", "TestABufOfMoreThan4GBComesWhole", "TestAHugeMessageIsTruncatedAndItsLengthTold"},
}

// dozen are the tests of the suite that the gate runs between processes.
const dozen = "^Test(PingPongCarriesEverySize|ARingExchangesInEveryWay|ManyGoroutinesOfTwoRanksSendAndReceive|AProbeDoesNotDisturbPostedReceives|" +
	"PersistentRequestsStartAgainAndAgain|ASendIsEitherCancelledOrReceived|PartitionsOfBufsArriveWithTheirElements|ElementsOfEveryKind|" +
	"AFenceEndsTheOperationsOfAll|FetchAndOpGivesEachANumber|EveryCollectiveGivesWhatTheModelGives|AFloodArrivesWholeAndInOrder)$"

// Every test of this package whose ranks can be processes, over every transport between
// processes; in the gate a dozen over shared memory.
func TestTheSuiteBetweenProcesses(t *testing.T) {
	for _, c := range []struct {
		fabric string
		sizes  []int
	}{{"shm", []int{2, 3, 4, 5, 10}}, {"tcp", []int{2, 3, 4, 5, 10}}, {"verbs", []int{2, 3, 4, 5, 10}}, {"shm+tcp", []int{4}}, {"shm+verbs", []int{4}}} {
		t.Run(c.fabric, func(t *testing.T) {
			need(t, c.fabric)
			ran := map[string]bool{}
			if testing.Short() {
				if c.fabric != "shm" {
					tier.Long(t, "what differs by the transport is tested between goroutines too")
				}
				c.sizes = []int{2, 4}
			}
			for _, n := range c.sizes {
				t.Run(fmt.Sprint(n), func(t *testing.T) {
					start := time.Now()
					tests := startTeam(t, c.fabric, n)
					t.Logf("%d tests in %v", len(tests), time.Since(start).Round(time.Millisecond))
					maps.Copy(ran, tests)
				})
			}
			if !testing.Short() && len(c.sizes) > 2 && !t.Failed() && !raceEnabled {
				checkCoverage(t, ran)
			}
		})
	}
}

// checkCoverage makes sure that every test ran between processes or has a
// reason not to.
func checkCoverage(t *testing.T, ran map[string]bool) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	list, err := exec.Command(exe, "-test.list=^Test").Output()
	if err != nil {
		t.Fatalf("list the tests: %v", err)
	}
	reasons := map[string]string{}
	for why, names := range notBetweenProcesses {
		for _, name := range names {
			reasons[name] = why
		}
	}
	for name := range strings.Lines(string(list)) {
		name = strings.TrimSpace(name)
		switch why := reasons[name]; {
		case ran[name] && why != "":
			t.Errorf("%s ran, and is listed as one that can't: %s", name, why)
		case !ran[name] && why == "":
			t.Errorf("%s did not run between processes; if it can't, notBetweenProcesses has to say why", name)
		}
		delete(reasons, name)
	}
	for name := range reasons {
		t.Errorf("notBetweenProcesses lists %s, which does not exist", name)
	}
	t.Logf("%d tests ran between processes", len(ran))
}

// startTeam runs the suite in n processes and returns the tests that had a job
// of n ranks.
func startTeam(t *testing.T, fabric string, n int) map[string]bool {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var not []string
	for _, names := range notBetweenProcesses {
		not = append(not, names...)
	}
	var out bytes.Buffer
	tests := "^Test"
	if testing.Short() {
		tests = dozen
	}
	l := launch.Launch{
		N: n, Path: exe,
		Args: []string{"-test.run=" + tests, "-test.skip=^(" + strings.Join(not, "|") + ")$", "-test.timeout=" + timeLeft(t).String(), fmt.Sprintf("-test.short=%t", testing.Short() || fabric == "tcp")}, // many gigabytes
		Env:  append(os.Environ(), teamVar+"="+t.TempDir(), "WEFT_FABRIC="+fabric, "WEFT_TEST_NODES=2", "GORACE=atexit_sleep_ms=0"),
		// Both, so that a failure is told beside what it is about.
		Stdout: &out, Stderr: &out,
	}
	if err := l.Run(t.Context()); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	ran := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^ran (\w+) ([\d.]+)`).FindAllStringSubmatch(out.String(), -1) {
		ran[m[1]] = true
		if s, err := strconv.ParseFloat(m[2], 64); err == nil && s > 2 {
			t.Logf("%s takes %.1f s", m[1], s)
		}
	}
	return ran
}

// timeLeft is the time limit of the processes that a test starts: 0, which is
// none, without one of this process, else less than what that has left, so that
// it lives to tell what they say of a hang.
func timeLeft(t *testing.T) time.Duration {
	end, limited := t.Deadline()
	if !limited {
		return 0
	}
	return max(time.Until(end)*9/10, 1)
}

// joinTeam makes this process one of the job that startTeam started.
func joinTeam(dir string) error {
	if strings.HasPrefix(os.Getenv("WEFT_FABRIC"), "shm+") {
		divide()
	}
	os.Unsetenv("WEFT_TEST_NODES")
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	job, err := launch.Discover(ctx)
	if err != nil {
		return err
	}
	memory, err := mapShared(dir)
	if err != nil {
		return err
	}
	team = &crew{job: job, fabric: os.Getenv("WEFT_FABRIC"), dir: dir, memory: memory, ran: map[string]time.Duration{}}
	return nil
}

// leave ends the process's part in the job.
func (p *crew) leave() {
	if p.job.Rank == 0 {
		for _, name := range slices.Sorted(maps.Keys(p.ran)) {
			fmt.Println("ran", name, p.ran[name].Seconds())
		}
	}
	p.job.Close()
}

// outcome is what a rank tells the others of the end of a job.
type outcome struct {
	Test, Text string
	Classes    []mpi.Class
}

func (o *outcome) Error() string { return o.Text }

func (o *outcome) Is(target error) bool {
	if class, ok := target.(mpi.Class); ok {
		return slices.Contains(o.Classes, class)
	}
	return strings.Contains(o.Text, target.Error())
}

// try is the job of a test: this process is one of its ranks. Like mpi.Run it
// returns the errors of all ranks. Processes that are out of step end at once.
func (p *crew) try(t *testing.T, n int, f func(w *mpi.World, c *mpi.Comm) error, opts []mpi.Option) error {
	t.Helper()
	if n != p.job.Size {
		t.Skipf("%d ranks; there are %d processes", n, p.job.Size)
	}
	name, _, _ := strings.Cut(t.Name(), "/")
	start := time.Now()
	defer func() { p.ran[name] += time.Since(start) }()
	ctx, cancel := context.WithTimeoutCause(t.Context(), patience, errors.New("the test waited too long"))
	defer cancel()
	opts = append([]mpi.Option{mpi.WithLogger(slog.New(slog.DiscardHandler))}, opts...)
	w, err := mpi.Join(ctx, p.job, append(opts, mpi.WithFabric(p.fabric))...)
	if err != nil {
		p.lost(t, err)
	}
	p.jobs++
	err = mpi.End(w, f(w, w.Comm().WithContext(ctx)))
	mine := outcome{Test: fmt.Sprint(t.Name(), " ", p.jobs)}
	if err != nil {
		mine.Text, mine.Classes = fmt.Sprintf("rank %d: %v", p.job.Rank, err), mpi.ClassesOf(err)
	}
	b, _ := json.Marshal(mine)
	ctx, cancel = context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	all, xerr := p.job.Exchange(ctx, b)
	if xerr != nil {
		p.lost(t, xerr)
	}
	errs := []error{err}
	for i, b := range all {
		o := &outcome{}
		if err := json.Unmarshal(b, o); err != nil || o.Test != mine.Test {
			p.lost(t, fmt.Errorf("rank %d is in test %q, rank %d in %q: %w", i, o.Test, p.job.Rank, mine.Test, err))
		}
		if i != p.job.Rank && o.Text != "" {
			errs = append(errs, o)
		}
	}
	return errors.Join(errs...)
}

// lost ends a process that has lost the others.
func (p *crew) lost(t *testing.T, err error) {
	fmt.Fprintf(os.Stderr, "%s: rank %d of the test job: %v\n", t.Name(), p.job.Rank, err)
	os.Exit(1)
}

// newPipe makes a signal between processes.
func (p *crew) newPipe() *os.File {
	p.signals++
	name := filepath.Join(p.dir, fmt.Sprint("signal", p.signals))
	f, err := openPipe(name)
	if err != nil {
		panic(err)
	}
	return f
}
