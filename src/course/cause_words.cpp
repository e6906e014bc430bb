// Every cause with its title, and the general explanation.
#include <utility>

#include "cause_parts.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::course {

namespace {

struct CauseWords {
  std::string_view id, title, sentence, advice;
};

constexpr CauseWords kCauses[] = {
    {"does-not-compile", "it does not compile", "",
     "change the line that is shown, or the one before it"},
    {"assignment-in-condition", "a condition stores where it should compare", "",
     "== compares, = stores"},
    {"comma", "a comma in brackets drops what is before it", "", ""},
    {"compares-only", "a line compares where it should store", "", ""},
    {"atomic-of-local", "an atomic addition changes a variable of one thread", "", ""},
    {"no-first-value", "a variable has no first value", "", "give it one where it is declared"},
    {"no-thread", "no thread does what it should", "the kernel touches no element",
     "which threads pass the conditions of the kernel?"},
    {"overlapping-tiles", "the tiles of two rounds overlap", "", ""},
    {"empty-body", "a ; ends an if or a for before its body", "", "take that ; away"},
    {"block-size", "the size of a block is used as its position", "", ""},
    {"flat-index", "one index is given where there are two", "", ""},
    {"tuple", "a tuple is missing", "", ""},
    {"missing-braces", "braces are missing around two lines", "",
     "{ before the first of the two lines, and } after the last one"},
    {"declared-again", "a variable is declared a second time", "", ""},
    {"unfilled", "nothing is filled in yet", "the kernel touches no element",
     "write what the comment in the file asks for"},
    {"nothing-stored", "nothing is stored",
     "the kernel reads its inputs, but no element is written",
     "store the result, once, at the end"},
    {"guard", "a guard is missing, or is not strict enough", "",
     "only threads whose element exists may do it"},
    {"guard-too-strict", "a guard keeps too many threads away",
     "the elements that were never written are all at the edge",
     "compare with < and the extent itself, or launch enough threads"},
    {"never-written", "part of the result is never written", "", "look at the index of the store"},
    {"written-again", "several threads do the same work", "", "each element needs one thread only"},
    {"swapped-threads", "the roles of x and y are swapped", "", "x counts columns, y counts rows"},
    {"swapped-access", "row and column are swapped in an access", "",
     "elements are written (row, column)"},
    {"other-product", "this follows another formula", "", "compare each index with the formula"},
    {"factor", "each element is a multiple of the right one", "", "look for what counts twice"},
    {"offset", "every element is off by the same number", "",
     "with what does the sum begin, and what is added to it once?"},
    {"whole-numbers", "a number loses its fraction",
     "every element is a whole number, and most should not be",
     "float, not int, for what is added up; and 1 / 2 is 0, where 1 / 2.0f is 0.5"},
    {"static", "all threads share one variable", "", "leave static out: each thread has its own"},
    {"constant", "every element is the same number", "", "look at what is stored"},
    {"not-finite", "a number is infinite, or not a number", "",
     "look for memory that is read before it is written, a division by 0, exp of something large, "
     "or a sum without a beginning"},
    {"filled-twice", "two lines fill the same tile", "", "remove one of the two lines"},
    {"read-too-early", "the tile is read before all of it is loaded", "",
     "load the whole tile in one loop, then t.barrier(), then read it in a second loop"},
    {"swapped-indices", "rows and columns of the result are swapped",
     "the value at (row, col) belongs to (col, row)",
     "y counts rows and x counts columns: out(row, col)"},
    {"a-transposed", "the indices of A are swapped", "this is the product with A transposed",
     "A is read at (row, k)"},
    {"b-transposed", "the indices of B are swapped", "this is the product with B transposed",
     "B is read at (k, col)"},
    {"operands-swapped", "A and B are swapped", "this is B * A", "row by A, column by B"},
    {"other-row", "the numbers of another row are used", "",
     "follow the index of each row that is read, from the thread and its loops"},
    {"other-column", "the numbers of another column are used", "",
     "follow the index of each column that is read, from the thread and its loops"},
    {"wrong-step", "a step from one element to the next is wrong", "",
     "which stride belongs to that step?"},
    {"elementwise", "elements are multiplied one by one",
     "each element is A(row, col) * B(row, col), which is another product",
     "sum over k: A(row, k) * B(k, col)"},
    {"one-product", "the sum is overwritten instead of added to",
     "each element holds the last product only", "sum = fma(a, b, sum)"},
    {"loop-too-short", "the loop over k leaves products out",
     "each element lacks its first or its last product", "for k from 0 while k < the extent"},
    {"last-k-tile-dropped", "the last tile along k is dropped",
     "each element lacks the products of the last tile",
     "round the number of tiles up: (K + T - 1) / T of them"},
    {"only-the-first-tile", "only the first tile along k is used",
     "each element holds the products of the first tile only",
     "the loop goes over all tiles along k"},
    {"same-tile-again", "each round loads the same tiles",
     "the result is that of the first tiles, as often as there are rounds",
     "k belongs in the index of each load: A(row, k + x), B(k + y, col)"},
    {"sum-not-kept", "the sum is not kept from tile to tile",
     "each element holds the products of the last tile only",
     "set the sum to 0 once, before the loop over the tiles"},
    {"wrong-tile", "the wrong tile is loaded", "the tile's two indices are swapped",
     "of A tile (block.y, k), of B tile (k, block.x)"},
    {"tile-transposed", "a tile is stored or read with swapped indices",
     "inside each tile rows and columns are swapped", "of A (y, i), of B (i, x)"},
    {"same-place", "several threads write the same element",
     "some elements are written by more than one thread, others by none", ""},
    {"needs-atomic", "several threads update the same element at once",
     "one reads what another is about to write, and an update is lost",
     "use t.atomic_add(C(row, col), value), or give each element to one thread"},
    {"missing-barrier", "a barrier is missing", "", ""},
    {"too-many-in-a-round", "too many threads take part in a round", "",
     "let only those threads write whose element no other one reads"},
    {"barrier-in-guard", "not all threads of the block reach the barrier",
     "a barrier is inside an if or a loop, or after a return, that only some threads pass",
     "move t.barrier() out of it: guard the other lines, and let all threads pass the barrier"},
    {"forgotten-wait", "an asynchronous copy is not waited for",
     "the tile is read while its copy may still be under way",
     "commit(t); wait<0>(t); t.barrier(); and only then read"},
    {"gate-count", "a gate counts more or fewer arrivals or bytes than it gets", "", ""},
    {"wrong-phase", "a wait names the wrong phase", "", ""},
    {"not-arrived", "a tile is used before it has arrived", "", ""},
    {"freed-too-early", "a stage is free before it was read", "", ""},
    {"forgotten-fence", "a fence is missing", "", ""},
    {"units-apart", "the warps of the warpgroup start different products", "", ""},
    {"product-not-awaited", "a product is not waited for", "", ""},
    {"store-not-awaited", "a bulk store is not waited for", "", ""},
    {"cluster-apart", "a block of the cluster starts too late or ends too early", "", ""},
    {"waits-for-ever", "threads wait at gates forever", "", ""},
    {"uninitialized", "memory is read before it is written", "",
     "begin sums with 0, and write every element of a tile that will be read"},
    {"stale-edge", "the edge of a tile keeps what the tile before left there",
     "where the next tile reaches past the matrix, nothing is loaded, and the old numbers count "
     "again",
     "write zero where the element does not exist"},
    {"wrong-index", "an access to an element that does not exist", "",
     "follow the index: which row and column does this thread mean?"},
    {"loop-too-long", "a loop goes too far", "", "let it end before"},
    {"part-not-read", "part of an input is never read", "",
     "look at the bounds of the loop, and at the index"},
    {"edge", "the elements at the edge are wrong", "the inner ones are right",
     "what happens in the last, partial tile? its missing part must count as zero"},
    {"some-blocks", "whole tiles are wrong, others are right",
     "threads of one block agree with each other", "the position of the block is wrong"},
    {"not-all", "part of the result is wrong", "", "compare the first wrong element by hand"},
    {"all-wrong", "the formula is wrong", "no pattern fits: nearly every element is another number",
     "compute the first element by hand, and compare it with what your lines do"},
    {"goal", "right, but not good enough yet", "",
     "look where the cost is: --html FILE draws which lane touches which bytes"},
    {"misaligned", "a wide access is not aligned", "",
     "vectors of four begin at a multiple of four elements"},
    {"mma-misuse", "not all lanes of the warp take part in the matrix instruction", "",
     "all 32 lanes call load_a, load_b, mma and store_d together, outside every if"},
    {"endless", "it does not end", "a loop never comes to its end",
     "does the loop's variable move towards its bound?"},
    {"crash", "the program died", "", "look for an index or a pointer that is far away"},
    {"exception", "the kernel threw", "", ""},
    {"impossible-launch", "no GPU can run this block", "", "fewer threads, or less shared storage"},
    {"spec", "the puzzle could not be run", "", ""},
};

}  // namespace

Cause cause(std::string_view id, std::string sentence, std::string advice) {
  for (const CauseWords& each : kCauses) {
    if (each.id != id) continue;
    return {std::string(each.id), std::string(each.title),
            sentence.empty() ? std::string(each.sentence) : std::move(sentence),
            advice.empty() ? std::string(each.advice) : std::move(advice), nullptr};
  }
  throw Error(Category::failed, cat("no cause '", id, "'"));
}

Cause told_by(const PuzzleFinding& finding, Cause cause) {
  cause.finding = &finding;
  return cause;
}

}  // namespace tessera::course
