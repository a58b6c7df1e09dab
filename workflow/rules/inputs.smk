"""Input functions: which files a job of each rule reads."""


def archives_of(wildcards):
    """Archives that hold a part or set."""
    names = corpus_pair(wildcards).archives(wildcards.name)
    return [f"{DOWNLOADS}/{PROJECT.catalogue.archives[name].file}" for name in names]


def identities_of(wildcards):
    """What tells the archives that hold a part or set from others: a sum, else the origin."""
    names = corpus_pair(wildcards).archives(wildcards.name)
    archives = [PROJECT.catalogue.archives[name] for name in names]
    return [
        archive.sha256 or section(archive, "pip", "host", "path", "version") for archive in archives
    ]


def own_files_of(wildcards):
    """The user's files that a part or set is read from."""
    return corpus_pair(wildcards).files(wildcards.name)


def held_out_sources(wildcards):
    """Tokenized sources of every set; no training pair may have one of them."""
    pair = corpus_pair(wildcards)
    return [
        f"{pair_folder(wildcards)}/tokenized/{name}.{wildcards.src}"
        for name in (pair.dev, *pair.tests)
    ]


def clean_parts(wildcards):
    """Both sides of every cleaned training part."""
    return [
        f"{pair_folder(wildcards)}/clean/{part}.{lang}"
        for part in corpus_pair(wildcards).train
        for lang in (wildcards.src, wildcards.tgt)
    ]


def tokens_of(wildcards):
    """Training parts are segmented after cleaning, sets as they are."""
    stage = "clean" if wildcards.name in corpus_pair(wildcards).train else "tokenized"
    return f"{pair_folder(wildcards)}/{stage}/{wildcards.name}.{wildcards.lang}"


def subwords_of(wildcards, lang):
    """Subword files of one side: all training parts, or the dev set."""
    pair = corpus_pair(wildcards)
    names = pair.train if wildcards.use == "train" else [pair.dev]
    return [f"{pair_folder(wildcards)}/bpe/{name}.{lang}" for name in names]


def model_for(wildcards):
    """Table 3 scores the last checkpoint on dev, Table 2 the averaged model on the test sets."""
    last = "last/" if wildcards.set == corpus_pair(wildcards).dev else ""
    run = f"{pair_folder(wildcards)}/{wildcards.row}/seed{wildcards.seed}"
    return f"{run}/{last}model.safetensors"


def in_report(path, caption, category, title):
    """A file of reports/<scale> that the Snakemake report shows with its caption."""
    return report(
        f"reports/{SCALE}/{path}",
        caption=f"../report/{caption}.rst",
        category=category,
        labels={"": title},
    )


def runs_of_pair(wildcards):
    """Every run of the pair, base first."""
    return [run for run in PROJECT.runs if run.pair == f"{wildcards.src}-{wildcards.tgt}"]


def last_models(wildcards):
    """The last checkpoint of every run of the pair."""
    return [f"{run_folder(run)}/last/model.safetensors" for run in runs_of_pair(wildcards)]


def hypotheses_of_dev(wildcards):
    """Translations of the dev set by every run of the pair."""
    dev = corpus_pair(wildcards).dev
    return [
        f"{run_folder(run)}/hypothesis.{dev}.{wildcards.tgt}" for run in runs_of_pair(wildcards)
    ]


def reference_of_dev(wildcards):
    """The target side of the dev set, raw."""
    return f"{pair_folder(wildcards)}/raw/{corpus_pair(wildcards).dev}.{wildcards.tgt}"


def attention_model(wildcards):
    """The averaged base model of the first seed."""
    seed = PROJECT.settings.seeds[0]
    return f"{pair_folder(wildcards)}/base/seed{seed}/model.safetensors"


def attention_text(wildcards):
    """The source side of the first test set, raw."""
    return f"{pair_folder(wildcards)}/raw/{corpus_pair(wildcards).tests[0]}.{wildcards.src}"


def files_of_run(run):
    """What a release keeps of a run: Table 2's models, and what its numbers are made of."""
    yield from ("trained.json", "run.json", "train.csv", "valid.csv")
    if PROJECT.experiments[run.row].table2:
        yield from MODEL_FILES
    _, target = run.pair.split("-")
    for name in PROJECT.scored_sets(run):
        yield from (f"hypothesis.{name}.{target}", f"score.{name}.json")


def files_of_pair(pair):
    """What a release keeps of a pair: counts of pairs, the test sets' text, what compares rows."""
    names = PROJECT.corpus_pair(pair)
    yield from (f"raw/{name}.json" for name in (*names.train, names.dev, *names.tests))
    yield from (f"clean/{part}.json" for part in names.train)
    yield from (f"raw/{name}.{lang}" for name in names.tests for lang in pair.split("-"))
    if pair == TABLE3_PAIR and "base" in PROJECT.rows:
        yield "attention.json"
        if len(PROJECT.rows) > 1:
            yield "significance.json"  # every row against base


def release_files():
    """All that a report is made of, and the models; by their paths below results/<scale>."""
    runs = [f"{run_folder(run)}/{file}" for run in PROJECT.runs for file in files_of_run(run)]
    pairs = [f"{pair}/{file}" for pair in PROJECT.settings.pairs for file in files_of_pair(pair)]
    inside = [path.removeprefix(f"results/{SCALE}/") for path in runs]
    return ["layer_times.json", *pairs, *inside]
