"""Input functions: which files a job of each rule reads."""


def archives_of(wildcards):
    """Archives that hold a part or set."""
    names = corpus_pair(wildcards).archives(wildcards.name)
    return [f"{DOWNLOADS}/{PROJECT.catalogue.archives[name].file}" for name in names]


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
    stage = "clean" if wildcards.name in TRAIN_PARTS else "tokenized"
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


def in_report(path, caption, category):
    """A file of reports/<scale> that the Snakemake report shows with its caption."""
    return report(
        f"reports/{SCALE}/{path}",
        caption=f"../report/{caption}.rst",
        category=category,
        labels={"file": path.rpartition("/")[2]},
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


def paired_tests(_):
    """Table 3's rows against base: nothing to test without base and another row."""
    several = PROJECT.rows[:1] == ("base",) and len(PROJECT.rows) > 1
    tested = several and TABLE3_PAIR in PROJECT.settings.pairs
    return f"results/{SCALE}/{TABLE3_PAIR}/significance.json" if tested else []


def trained_and_scored(_):
    """The marker and every score of each run."""
    return [
        f"{run_folder(run)}/{file}"
        for run in PROJECT.runs
        for file in (
            "trained.json",
            *(f"score.{name}.json" for name in PROJECT.scored_sets(run)),
        )
    ]


def counts_of_pairs(_):
    """What extraction and cleaning kept and dropped."""
    return [
        f"results/{SCALE}/{pair}/{file}"
        for pair in PROJECT.settings.pairs
        for names in [PROJECT.corpus_pair(pair)]
        for file in (
            *(f"raw/{name}.json" for name in (*names.train, names.dev, *names.tests)),
            *(f"clean/{part}.json" for part in names.train),
        )
    ]


def release_files():
    """Averaged models, hypotheses and scores, by their paths below results/<scale>."""
    return [
        f"{run_folder(run)}/{file}".removeprefix(f"results/{SCALE}/")
        for run in PROJECT.runs
        for file in (
            *(MODEL_FILES if PROJECT.experiments[run.row].table2 else ()),
            *(
                file
                for name in PROJECT.scored_sets(run)
                for file in (f"hypothesis.{name}.{run.pair[-2:]}", f"score.{name}.json")
            ),
        )
    ]
