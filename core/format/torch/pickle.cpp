#include "core/format/torch/pickle.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/parse.h"
#include "core/format/byte_source.h"

#include <unordered_map>
#include <utility>

namespace headscope::format {

namespace {

// More is taken for a damaged file. The largest checkpoints have some 100,000 tensors of 40 values each.
constexpr std::size_t most_values = std::size_t{1} << 23U;

/// Thrown when the bytes end inside the pickle; more of the file may follow.
struct Ended {};

/// The machine of a pickle: a stack, marks in it, and a memo of values.
class Unpickler {
public:
    Unpickler(std::string_view bytes, const std::string& source) : bytes_(bytes), source_(source) {}

    Pickle read() {
        for (;;) {
            const auto operation = static_cast<unsigned char>(take(1).front());
            if (operation == '.')
                break;
            if (!make_constant(operation) && !make_container(operation) && !use_memo_or_global(operation))
                fail_input(tr("pickle.unknown_operation",
                              "{}: byte {} of its pickle is {}, an operation that torch.save does not write; "
                              "the file is damaged, or another program wrote it",
                              source_, at_ - 1, int{operation}));
        }
        pickle_.root = pop();
        pickle_.bytes = at_;
        return std::move(pickle_);
    }

private:
    [[noreturn]] void fail() const {
        fail_input(tr("pickle.operation_does_not_fit",
                      "{}: the operation at byte {} of its pickle does not fit the ones before it; the file "
                      "is damaged, get it again",
                      source_, at_ - 1));
    }

    std::string_view take(std::uint64_t count) {
        if (count > bytes_.size() - at_)
            throw Ended{};
        const std::string_view taken = bytes_.substr(at_, static_cast<std::size_t>(count));
        at_ += taken.size();
        return taken;
    }
    std::uint64_t unsigned_number(std::size_t width) { return little_endian(take(width)); }
    std::string_view counted(std::size_t width) { return take(unsigned_number(width)); }
    std::string_view line() {
        const std::size_t end = bytes_.find('\n', at_);
        if (end == std::string_view::npos)
            throw Ended{};
        const std::string_view text = take(end - at_);
        at_ += 1;
        return text;
    }

    void charge(std::size_t values) {
        if (values > most_values - charged_)
            fail_input(tr("pickle.too_many_values",
                          "{}: its pickle has more than {} values; the file is damaged, or not the weights "
                          "of a model",
                          source_, most_values));
        charged_ += values;
    }
    void push(PickleValue value) {
        charge(1);
        pickle_.values.push_back(std::move(value));
        stack_.push_back(static_cast<PickleRef>(pickle_.values.size() - 1));
    }
    void push_number(PickleKind kind, std::int64_t number) { push({.kind = kind, .number = number}); }
    void push_text(std::string_view text) { push({.kind = PickleKind::string, .text = text}); }

    std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
    PickleRef top() const {
        if (stack_.size() <= floor())
            fail();
        return stack_.back();
    }
    PickleRef pop() {
        const PickleRef ref = top();
        stack_.pop_back();
        return ref;
    }
    PickleValue& value(PickleRef ref) { return pickle_.values[ref]; }
    /// Takes the values down to the last mark.
    std::vector<PickleRef> pop_marked() {
        if (marks_.empty())
            fail();
        const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
        std::vector<PickleRef> taken(first, stack_.end());
        stack_.erase(first, stack_.end());
        marks_.pop_back();
        return taken;
    }
    std::vector<PickleRef> pop_last(std::size_t count) {
        std::vector<PickleRef> taken(count);
        for (std::size_t i = count; i-- > 0;)
            taken[i] = pop();
        return taken;
    }

    /// Adds elements to the container on top of the stack.
    void add(PickleKind kind, const std::vector<PickleRef>& items) {
        PickleValue& container = value(top());
        if (container.kind != kind || (kind == PickleKind::dictionary && items.size() % 2 != 0))
            fail();
        if (kind != PickleKind::other)
            container.items.insert(container.items.end(), items.begin(), items.end());
    }

    void push_long(std::string_view bytes) {
        if (bytes.size() > sizeof(std::int64_t))
            return push({.text = bytes});
        std::uint64_t number = little_endian(bytes);
        if (!bytes.empty() && bytes.size() < sizeof(number) &&
            (static_cast<unsigned char>(bytes.back()) & 0x80U) != 0)
            number |= ~std::uint64_t{0} << (8 * bytes.size());
        push_number(PickleKind::integer, static_cast<std::int64_t>(number));
    }
    /// A decimal number; "00" and "01" are Booleans.
    void push_decimal(std::string_view text) {
        if (text.ends_with('L'))
            text.remove_suffix(1);
        else if (text == "00" || text == "01")
            return push_number(PickleKind::boolean, text == "01" ? 1 : 0);
        const auto number = number_of<std::int64_t>(text);
        if (!number)
            fail();
        push_number(PickleKind::integer, *number);
    }

    void put(std::uint64_t index) { memo_[index] = top(); }
    void get(std::uint64_t index) {
        const auto found = memo_.find(index);
        if (found == memo_.end())
            fail();
        stack_.push_back(found->second);
    }
    std::uint64_t memo_index(std::string_view text) const {
        const auto index = number_of<std::int64_t>(text);
        if (!index || *index < 0)
            fail();
        return static_cast<std::uint64_t>(*index);
    }

    const TorchGlobal& known_global(std::string_view module, std::string_view name) const {
        const TorchGlobal* const global = find_torch_global(module, name);
        if (global == nullptr)
            fail_input(tr("pickle.asks_to_run",
                          "{} asks to run {}.{}, which reading weights does not need; nothing was run, and "
                          "the file is not opened. Save the model's state_dict() alone, or get the model as "
                          "safetensors",
                          source_, shown_name(module), shown_name(name)));
        return *global;
    }
    void push_global(std::string_view module, std::string_view name) {
        push({.kind = PickleKind::global, .global = &known_global(module, name)});
    }
    void push_stack_global() {
        const PickleRef name = pop(), module = pop();
        if (value(name).kind != PickleKind::string || value(module).kind != PickleKind::string)
            fail();
        push_global(value(module).text, value(name).text);
    }

    void call() {
        const PickleRef arguments = pop(), function = pop();
        if (value(function).kind != PickleKind::global || value(arguments).kind != PickleKind::tuple)
            fail();
        const TorchGlobal* const global = value(function).global;
        switch (global->use) {
        case GlobalUse::dictionary:
            return push_dictionary(arguments);
        case GlobalUse::set:
        case GlobalUse::layout:
            return push({});
        case GlobalUse::size:
            if (value(arguments).items.size() != 1)
                fail();
            return stack_.push_back(value(arguments).items.front());
        case GlobalUse::tensor:
        case GlobalUse::typed_tensor:
        case GlobalUse::parameter:
        case GlobalUse::sparse:
        case GlobalUse::quantized:
            return push({.kind = PickleKind::call, .global = global, .items = {arguments}});
        case GlobalUse::number_type:
        case GlobalUse::constant:
            fail();
        }
    }

    /// A dictionary without elements, or of a list of pairs, as Python 2 wrote it.
    void push_dictionary(PickleRef arguments) {
        PickleValue made{.kind = PickleKind::dictionary};
        const std::vector<PickleRef>& given = value(arguments).items;
        if (given.size() > 1 || (given.size() == 1 && value(given.front()).kind != PickleKind::list))
            fail();
        if (!given.empty())
            for (const PickleRef pair : value(given.front()).items) {
                const PickleValue& both = value(pair);
                const bool fits = both.kind == PickleKind::tuple || both.kind == PickleKind::list;
                if (!fits || both.items.size() != 2)
                    fail();
                charge(2); // several dictionaries may be made of one list
                made.items.insert(made.items.end(), both.items.begin(), both.items.end());
            }
        push(std::move(made));
    }

    /// Discards the attributes of a dictionary, such as the _metadata of a state_dict.
    void build() {
        const PickleRef state = pop();
        if (value(top()).kind != PickleKind::dictionary || value(state).kind != PickleKind::dictionary)
            fail();
    }

    // Each carries out one operation of its kind, and returns false for one of another kind.
    bool make_constant(unsigned char operation) {
        switch (operation) {
        case 'N':
            push({});
            return true;
        case 0x88: // NEWTRUE
        case 0x89:
            push_number(PickleKind::boolean, operation == 0x88 ? 1 : 0);
            return true;
        case 'K': // BININT1
        case 'M':
            push_number(PickleKind::integer,
                        static_cast<std::int64_t>(unsigned_number(operation == 'K' ? 1 : 2)));
            return true;
        case 'J': // BININT
            push_long(take(4));
            return true;
        case 0x8A: // LONG1
        case 0x8B:
            push_long(counted(operation == 0x8A ? 1 : 4));
            return true;
        case 'I': // INT
        case 'L':
            push_decimal(line());
            return true;
        case 'G': // BINFLOAT
            take(8);
            push({});
            return true;
        case 'X': // BINUNICODE
        case 'T': // BINSTRING
            push_text(counted(4));
            return true;
        case 0x8C: // SHORT_BINUNICODE
        case 'U':  // SHORT_BINSTRING
            push_text(counted(1));
            return true;
        case 0x8D: // BINUNICODE8
            push_text(counted(8));
            return true;
        case 'C': // SHORT_BINBYTES
        case 'B':
            counted(operation == 'C' ? 1 : 4);
            push({});
            return true;
        case 0x8E: // BINBYTES8
        case 0x96: // BYTEARRAY8
            counted(8);
            push({});
            return true;
        default:
            return false;
        }
    }

    bool make_container(unsigned char operation) {
        switch (operation) {
        case '(':
            marks_.push_back(stack_.size());
            return true;
        case '1': // POP_MARK
            pop_marked();
            return true;
        case ')': // EMPTY_TUPLE
            push({.kind = PickleKind::tuple});
            return true;
        case 0x85: // TUPLE1
        case 0x86:
        case 0x87:
            push({.kind = PickleKind::tuple, .items = pop_last(operation - 0x84U)});
            return true;
        case 't': // TUPLE
            push({.kind = PickleKind::tuple, .items = pop_marked()});
            return true;
        case ']': // EMPTY_LIST
            push({.kind = PickleKind::list});
            return true;
        case 'l': // LIST
            push({.kind = PickleKind::list, .items = pop_marked()});
            return true;
        case 'a': // APPEND
            add(PickleKind::list, pop_last(1));
            return true;
        case 'e': // APPENDS
            add(PickleKind::list, pop_marked());
            return true;
        case '}': // EMPTY_DICT
            push({.kind = PickleKind::dictionary});
            return true;
        case 'd': // DICT
        {
            const std::vector<PickleRef> items = pop_marked();
            push({.kind = PickleKind::dictionary});
            add(PickleKind::dictionary, items);
            return true;
        }
        case 's': // SETITEM
            add(PickleKind::dictionary, pop_last(2));
            return true;
        case 'u': // SETITEMS
            add(PickleKind::dictionary, pop_marked());
            return true;
        case 0x8F: // EMPTY_SET
            push({});
            return true;
        case 0x90: // ADDITEMS
            add(PickleKind::other, pop_marked());
            return true;
        case 0x91: // FROZENSET
            pop_marked();
            push({});
            return true;
        default:
            return false;
        }
    }

    bool use_memo_or_global(unsigned char operation) {
        switch (operation) {
        case '0': // POP
            pop();
            return true;
        case '2': // DUP
            stack_.push_back(top());
            return true;
        case 'q': // BINPUT
        case 'r':
            put(unsigned_number(operation == 'q' ? 1 : 4));
            return true;
        case 'p': // PUT
            put(memo_index(line()));
            return true;
        case 0x94: // MEMOIZE
            put(memo_.size());
            return true;
        case 'h': // BINGET
        case 'j':
            get(unsigned_number(operation == 'h' ? 1 : 4));
            return true;
        case 'g': // GET
            get(memo_index(line()));
            return true;
        case 'c': // GLOBAL
        case 'i': // INST, which calls it too
        {
            const std::string_view module = line();
            push_global(module, line());
            if (operation == 'i')
                fail();
            return true;
        }
        case 0x93: // STACK_GLOBAL
            push_stack_global();
            return true;
        case 'R':  // REDUCE
        case 0x81: // NEWOBJ
            call();
            return true;
        case 'b': // BUILD
            build();
            return true;
        case 'Q': // BINPERSID
            push_storage();
            return true;
        case 0x80: // PROTO
            take(1);
            return true;
        case 0x95: // FRAME
            take(8);
            return true;
        default:
            return false;
        }
    }

    void push_storage() {
        const PickleRef id = pop();
        if (value(id).kind != PickleKind::tuple)
            fail();
        push({.kind = PickleKind::storage, .items = {id}});
    }

    std::string_view bytes_;
    const std::string& source_;
    std::size_t at_ = 0;
    std::size_t charged_ = 0;
    Pickle pickle_;
    std::vector<PickleRef> stack_;
    std::vector<std::size_t> marks_; ///< heights of the stack
    std::unordered_map<std::uint64_t, PickleRef> memo_;
};

} // namespace

std::optional<Pickle> read_pickle(std::string_view bytes, const std::string& source) {
    try {
        return Unpickler(bytes, source).read();
    } catch (const Ended&) {
        return std::nullopt;
    }
}

} // namespace headscope::format
