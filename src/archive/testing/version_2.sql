-- An archive of version 2, as the program of that time made it: one interrupted run of three attempts, one of which a
-- model wrote. Never edit: it stands for files that people have.
PRAGMA application_id = 1802985842;
PRAGMA user_version = 2;

CREATE TABLE runs (
  id           TEXT PRIMARY KEY,
  started_utc  TEXT NOT NULL,
  problem      TEXT NOT NULL,
  op           TEXT NOT NULL,
  target       TEXT NOT NULL,
  device       TEXT NOT NULL,
  status       INTEGER NOT NULL,
  best_ordinal INTEGER,
  record       TEXT NOT NULL
);
CREATE TABLE bundles (
  hash   TEXT PRIMARY KEY,
  record TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE attempts (
  run_id      TEXT NOT NULL REFERENCES runs(id),
  ordinal     INTEGER NOT NULL,
  candidate   TEXT NOT NULL,
  bundle      TEXT NOT NULL REFERENCES bundles(hash),
  status      INTEGER NOT NULL,
  reason      INTEGER NOT NULL,
  failed_gate INTEGER,
  median_ns   INTEGER,
  became_best INTEGER NOT NULL,
  record      TEXT NOT NULL,
  PRIMARY KEY (run_id, ordinal)
);

CREATE TABLE turns (
  run_id   TEXT NOT NULL REFERENCES runs(id),
  sequence INTEGER NOT NULL,
  fault    INTEGER NOT NULL,
  record   TEXT NOT NULL,
  PRIMARY KEY (run_id, sequence)
);
INSERT INTO runs VALUES ('4f1c0a9be27d3356', '2026-11-20T09:00:00Z', 'attention/alibi', 'attention', 'opencl', 'pthread-skylake-avx512-AMD EPYC', 4, 0,
'{"format":1,"record":"run","id":"4f1c0a9be27d3356","started_utc":"2026-11-20T09:00:00Z","version":"0.1.0","problem":"attention/alibi","problem_text":"name = \"attention/alibi\"\nop = \"attention\"\n\n[axes]\nB = 1\nHq = 8\nHkv = 8\nSq = 1024\nSkv = 1024\nD = 64\nDv = 64\n\n[attention]\ndtype = \"f32\"\nscore_mod = \"\"\"\ndef alibi(score, b, h, q_idx, kv_idx):\n    return score + torch.exp2(-((h + 1) * 8.0 / Hq)) * (kv_idx - q_idx)\n\"\"\"\n","mod_text":"","problem_input":"attention/alibi","op":"attention","target":"opencl","proposer":"search","seed":3,"archive_seeds":[],"device":{"id":"opencl:0","target":"opencl","name":"pthread-skylake-avx512-AMD EPYC","driver":"PoCL 3.1, LLVM 15","kind":1,"compute_units":2,"max_block_items":4096,"shared_bytes_per_block":0,"memory_bytes":25769803776,"last_level_cache_bytes":0,"l2_cache_bytes":0,"l1_cache_bytes":0,"vector_floats":16,"peak_f32_flops":510000000000.0,"peak_bytes":32000000000.0},"limits":{"wall_seconds":60.0},"used":{"wall_seconds":2.309387896347496,"candidates":3,"device_seconds":0.5456327378084976,"tokens":0,"dollars":0.0},"status":4,"failure":"","sandbox_tier":"b","workloads":["primary"],"distributions":["normal"],"sanitizers":[],"environment":[],"useful_flops":2180000000.0,"useful_bytes":8400000.0,"baselines":[{"name":"plain","median_ns":61200000.0,"ci_ns":{"low":60400000.0,"high":62300000.0,"confidence":0.95}}],"best_ordinal":0,"best_path":"out/attention-alibi.cl","best_final":{"median_ns":31000000.0,"ci_ns":{"low":30834104.78383984,"high":31182484.73777617,"confidence":0.95},"samples":60,"stopped_early":false,"versus":[{"name":"plain","decision":1,"speedup":1.9741935483870967,"speedup_ci":{"low":1.9584,"high":1.991566451612903,"confidence":0.95},"pairs":40,"discarded_pairs":1}],"gflops":70.3225806451613,"roofline_fraction":0.13788741302972804},"best_accuracy":[{"workload":"primary","distribution":"normal","max_error":0.38,"allowed":1.0}]}');
INSERT INTO bundles VALUES ('a1c1b0364d60140bfad180914ce436e90daeb870050a86486d2cc90cb9dbbc86',
'{"format":1,"record":"bundle","target":"opencl","problem":"attention/alibi","generator":"vector 1","deterministic":true,"tunables":[{"name":"BM","values":[2,4,6,8],"default":4},{"name":"BN","values":[64,128,256,512],"default":128},{"name":"UNROLL","values":[1,2,4],"default":1}],"constraints":["BM * BN <= 4096"],"defines":[{"name":"HEAD_DIM","expression":"D"}],"scratch":[{"name":"kt","dtype":1,"elements":"B * Hkv * D * round_up(Skv, 32)"}],"launches":[{"kernel":"pack","grid":["ceil_div(Skv, 32)","Hkv","B"],"block":["1","1","1"],"shared_bytes":"0","args":["K","kt","Skv"]},{"kernel":"attention","grid":["ceil_div(Sq, BM)","Hq","B"],"block":["1","1","1"],"shared_bytes":"0","args":["Q","kt","V","O","Sq"]}],"source":"__kernel void k() {}\n"}');
INSERT INTO attempts VALUES ('4f1c0a9be27d3356', 0, '59e3b5aefe086b293035b23d78a39b215aff5473e1fdb60b9b232ce654f82a09', 'a1c1b0364d60140bfad180914ce436e90daeb870050a86486d2cc90cb9dbbc86', 1, 0, NULL, 31000000, 1,
'{"format":1,"record":"attempt","ordinal":0,"proposer":"search","origin":"analytic seed 1","candidate":{"tunables":{"BM":2,"BN":256,"UNROLL":2}},"verdict":{"status":1,"reason":0,"message":"","gates_passed":[1,2,3,4,6],"evidence":[{"gate":4,"text":"4 workloads x 4 distributions, error at most 0.36 of what is allowed","hidden":false}]},"build":{"log":"","build_ms":80.72866736771785,"binary_bytes":49947,"binary_hash":"5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9"},"measurement":{"median_ns":31000000.0,"ci_ns":{"low":30834104.78383984,"high":31182484.73777617,"confidence":0.95},"samples":20,"stopped_early":false,"versus":[],"gflops":70.3225806451613,"roofline_fraction":0.13788741302972804},"device_seconds":0.20531696967470828,"wall_seconds":0.3421949494578471,"elapsed_seconds":1.742194949457847,"became_best":true}');
INSERT INTO attempts VALUES ('4f1c0a9be27d3356', 1, 'ad0b8ac3a6cd3fb0d99079dfb40b1aa42552150b6bbacf5444a2c2fb568b3f4e', 'a1c1b0364d60140bfad180914ce436e90daeb870050a86486d2cc90cb9dbbc86', 1, 0, NULL, 43484830, 0,
'{"format":1,"record":"attempt","ordinal":1,"proposer":"search","origin":"analytic seed 2","turn":0,"candidate":{"tunables":{"BM":4,"BN":512,"UNROLL":4}},"verdict":{"status":1,"reason":0,"message":"","gates_passed":[1,2,3,4,6],"evidence":[{"gate":4,"text":"4 workloads x 4 distributions, error at most 0.36 of what is allowed","hidden":false}]},"build":{"log":"","build_ms":87.11886260469656,"binary_bytes":52321,"binary_hash":"6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b"},"measurement":{"median_ns":43484830.44342983,"ci_ns":{"low":43177803.98315461,"high":43822559.54973257,"confidence":0.95},"samples":20,"stopped_early":false,"versus":[{"name":"incumbent","decision":2,"speedup":0.7128922818344305,"speedup_ci":{"low":0.7057633590160862,"high":0.7207340969346092,"confidence":0.95},"pairs":20,"discarded_pairs":0}],"gflops":50.13242498061479,"roofline_fraction":0.0982988725110094},"device_seconds":0.13661041136744212,"wall_seconds":0.22768401894573687,"elapsed_seconds":1.969878968403584,"became_best":false,"chain":2}');
INSERT INTO attempts VALUES ('4f1c0a9be27d3356', 2, '826278d3f05a90fd454a504321609d98f52bab1bc98eebb15dace99522d19623', 'a1c1b0364d60140bfad180914ce436e90daeb870050a86486d2cc90cb9dbbc86', 1, 0, NULL, 42647418, 0,
'{"format":1,"record":"attempt","ordinal":2,"proposer":"search","origin":"analytic seed 3","candidate":{"tunables":{"BM":6,"BN":512,"UNROLL":4}},"verdict":{"status":1,"reason":0,"message":"","gates_passed":[1,2,3,4,6],"evidence":[{"gate":4,"text":"4 workloads x 4 distributions, error at most 0.36 of what is allowed","hidden":false}]},"build":{"log":"","build_ms":86.69644713306856,"binary_bytes":49719,"binary_hash":"d4735e3a265e16eee03f59718b9b5d03019c07d8b6c51f90da3a666eec13ab35"},"measurement":{"median_ns":42647417.61906225,"ci_ns":{"low":42425252.58898057,"high":42891799.152152106,"confidence":0.95},"samples":20,"stopped_early":false,"versus":[{"name":"incumbent","decision":2,"speedup":0.7268904362955808,"speedup_ci":{"low":0.719621531932625,"high":0.7348862310948321,"confidence":0.95},"pairs":20,"discarded_pairs":1}],"gflops":51.116811326592455,"roofline_fraction":0.10022904181684794},"device_seconds":0.20370535676634724,"wall_seconds":0.3395089279439121,"elapsed_seconds":2.309387896347496,"became_best":false}');
INSERT INTO turns VALUES ('4f1c0a9be27d3356', 0, 0,
'{"format":1,"record":"turn","ordinal":0,"chain":0,"before_attempt":0,"purpose":"first prompt","request":{"model":"some-model","messages":[]},"reply":{"text":"x","reasoning":"","finish":1,"usage":{"prompt":0,"completion":0,"reasoning":0,"cached":0,"estimated":false},"model":"","seconds":0.0,"first_token_seconds":0.0,"retries":0},"dollars":0.0,"finished_seconds":0.0,"summary":"","fault":0,"fault_message":""}');
