#include "core/lesson/fields.h"

#include "core/base/error.h"
#include "core/base/message.h"

#include <algorithm>

namespace headscope::lesson {

namespace {

std::string alternatives(const std::vector<std::string>& words) {
    std::string out;
    for (std::size_t i = 0; i < words.size(); ++i)
        out = i == 0                  ? words[i]
              : i + 1 == words.size() ? tr("common.or", "{} or {}", out, words[i])
                                      : out + ", " + words[i];
    return out;
}

} // namespace

Fields::Fields(YAML::Node map, std::string what, int first_line, std::vector<LessonError>& faults)
    : map_(std::move(map)), what_(std::move(what)), first_line_(first_line), faults_(&faults) {
    if (map_.IsDefined() && !map_.IsNull())
        own_line_ = map_.Mark().line;
}

Fields Fields::parse(std::string_view text, const std::string& what, int first_line,
                     std::vector<LessonError>& faults) {
    YAML::Node node;
    try {
        node = YAML::Load(std::string(text));
        if (!node.IsNull() && !node.IsMap()) {
            faults.push_back({first_line, tr("fields.no_list_name_value",
                                             "{} is not a list of \"name: value\" lines", what)});
            node = YAML::Node();
        }
    } catch (const YAML::Exception& fault) {
        faults.push_back({first_line + std::max(fault.mark.line, 0),
                          tr("fields.not_yaml", "{} is not YAML: {}", what, fault.msg)});
        node = YAML::Node();
    }
    return {node, what, first_line, faults};
}

YAML::Node Fields::entry(const std::string& key) {
    asked_.insert(key);
    if (!map_.IsMap())
        return YAML::Node(YAML::NodeType::Undefined);
    const YAML::Node& read_only = map_; // operator[] of a non-const node would create the entry
    return read_only[key];
}

int Fields::line(const std::string& key) const {
    if (map_.IsMap())
        if (const YAML::Node node = map_[key]; node.IsDefined())
            return first_line_ + std::max(node.Mark().line, 0);
    return line();
}

void Fields::fault(const std::string& key, const std::string& sentence) {
    faults_->push_back({line(key), sentence});
}

std::optional<std::string> Fields::text(const std::string& key) {
    const YAML::Node node = entry(key);
    if (!node.IsDefined())
        return {};
    if (!node.IsScalar()) {
        fault(key,
              tr("fields.no_text_write_words", "\"{0}\" of {1} is not a text; write {0}: words", key, what_));
        return {};
    }
    return node.Scalar();
}

std::string Fields::required_text(const std::string& key) {
    const std::optional<std::string> found = text(key);
    if (!found || found->empty())
        faults_->push_back({line(), tr("fields.no_add", "{0} has no \"{1}\"; add {1}: ...", what_, key)});
    return found.value_or("");
}

std::optional<double> Fields::number(const std::string& key) {
    const YAML::Node node = entry(key);
    if (!node.IsDefined())
        return {};
    double value = 0;
    if (node.IsScalar() && YAML::convert<double>::decode(node, value))
        return value;
    fault(key, tr("fields.no_number", "\"{}\" of {} is not a number", key, what_));
    return {};
}

std::optional<std::int64_t> Fields::integer(const std::string& key) {
    const YAML::Node node = entry(key);
    if (!node.IsDefined())
        return {};
    std::int64_t value = 0;
    if (node.IsScalar() && YAML::convert<std::int64_t>::decode(node, value))
        return value;
    fault(key, tr("fields.no_whole_number", "\"{}\" of {} is not a whole number", key, what_));
    return {};
}

std::optional<bool> Fields::flag(const std::string& key) {
    const YAML::Node node = entry(key);
    if (!node.IsDefined())
        return {};
    bool value = false;
    if (node.IsScalar() && YAML::convert<bool>::decode(node, value))
        return value;
    fault(key, tr("fields.neither_true_nor_false", "\"{}\" of {} is neither true nor false", key, what_));
    return {};
}

std::optional<std::string> Fields::word(const std::string& key, const std::vector<std::string>& choices) {
    std::optional<std::string> found = text(key);
    if (found && std::ranges::find(choices, *found) == choices.end()) {
        fault(key, tr("fields.of_is_it_can", "\"{}\" of {} is \"{}\"; it can be {}", key, what_, *found,
                      alternatives(choices)));
        return {};
    }
    return found;
}

std::vector<std::string> Fields::texts(const std::string& key) {
    const YAML::Node node = entry(key);
    if (!node.IsDefined())
        return {};
    if (node.IsScalar())
        return {node.Scalar()};
    std::vector<std::string> all;
    if (node.IsSequence())
        for (const YAML::Node& item : node)
            if (item.IsScalar())
                all.push_back(item.Scalar());
    if (!node.IsSequence() || all.size() != node.size())
        fault(key, tr("fields.no_list_texts_put",
                      "\"{}\" of {} is not a list of texts; put texts with brackets in quotation marks", key,
                      what_));
    return all;
}

std::vector<std::int64_t> Fields::integers(const std::string& key) {
    std::vector<std::int64_t> all;
    for (const std::string& one : texts(key)) {
        std::int64_t value = 0;
        if (YAML::convert<std::int64_t>::decode(YAML::Node(one), value))
            all.push_back(value);
        else
            fault(key, tr("fields.no_whole_number_2", "\"{}\" in \"{}\" of {} is not a whole number", one,
                          key, what_));
    }
    return all;
}

std::optional<Fields> Fields::map(const std::string& key) {
    const YAML::Node node = entry(key);
    if (!node.IsDefined())
        return {};
    if (!node.IsMap()) {
        fault(key, tr("fields.no_list_name_value_2", "\"{}\" of {} is not a list of \"name: value\" lines",
                      key, what_));
        return {};
    }
    return Fields(node, tr("fields.of", "\"{}\" of {}", key, what_), first_line_, *faults_);
}

std::vector<Fields> Fields::maps(const std::string& key) {
    const YAML::Node node = entry(key);
    std::vector<Fields> all;
    if (!node.IsDefined())
        return all;
    if (!node.IsSequence()) {
        fault(key, tr("fields.no_list_begin_each", "\"{}\" of {} is not a list; begin each entry with \"- \"",
                      key, what_));
        return all;
    }
    for (const YAML::Node& item : node)
        if (item.IsMap())
            all.emplace_back(item, tr("fields.entry", "an entry of \"{}\"", key), first_line_, *faults_);
        else
            fault(key, tr("fields.entry_no_list_name",
                          "an entry of \"{}\" of {} is not a list of \"name: value\" lines", key, what_));
    return all;
}

std::vector<std::pair<std::string, double>> Fields::numbers_by_name(const std::string& key) {
    const YAML::Node node = entry(key);
    std::vector<std::pair<std::string, double>> all;
    if (!node.IsDefined())
        return all;
    double value = 0;
    if (node.IsMap())
        for (const auto& pair : node)
            if (pair.second.IsScalar() && YAML::convert<double>::decode(pair.second, value))
                all.emplace_back(pair.first.Scalar(), value);
    if (!node.IsMap() || all.size() != node.size())
        fault(key, tr("fields.no_list_name_number", "\"{}\" of {} is not a list of \"name: number\" lines",
                      key, what_));
    return all;
}

void Fields::use(const std::string& key, const std::function<void(const std::string&)>& call) {
    if (const std::optional<std::string> found = text(key))
        try {
            call(*found);
        } catch (const Error& error) {
            fault(key, error.what());
        }
}

void Fields::use_all(const std::string& key, const std::function<void(const std::string&)>& call) {
    for (const std::string& one : texts(key))
        try {
            call(one);
        } catch (const Error& error) {
            fault(key, error.what());
        }
}

void Fields::report_unknown_entries() {
    if (!map_.IsMap())
        return;
    for (const auto& pair : map_)
        if (!asked_.contains(pair.first.Scalar()))
            faults_->push_back({first_line_ + std::max(pair.first.Mark().line, 0),
                                tr("fields.no_entry_known", "{} has no entry \"{}\"; known are {}", what_,
                                   pair.first.Scalar(), alternatives({asked_.begin(), asked_.end()}))});
}

} // namespace headscope::lesson
