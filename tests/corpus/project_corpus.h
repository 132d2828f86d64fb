// The failure files of the project's corpus/.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "scenarios/runner.h"
#include "scenarios/scenario.h"
#include "scenarios/search/failure.h"

namespace fencepost::scenarios {

struct CorpusFile {
    std::string name;
    std::string path;
};

// Printed by GoogleTest as the parameter of a case.
inline void PrintTo(const CorpusFile& file, std::ostream* out) {
    *out << file.name;
}

inline std::vector<CorpusFile> project_corpus() {
    std::vector<CorpusFile> files;
    const std::filesystem::path folder = std::filesystem::path{FENCEPOST_SOURCE_DIR} / "corpus";
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() == ".json")
            files.push_back({entry.path().stem().string(), entry.path().string()});
    }
    std::ranges::sort(files, {}, &CorpusFile::name);
    return files;
}

inline std::string name_of_case(const testing::TestParamInfo<CorpusFile>& info) {
    std::string name = info.param.name;
    std::ranges::replace_if(
        name, [](char c) { return c == '-' || c == '.'; }, '_');
    return name;
}

}  // namespace fencepost::scenarios
