"""The only place with SQL: opening (``db``), migrations, writing (``write``), reading (``read``), the daily rollup.

Every write is one ``BEGIN IMMEDIATE`` transaction; readers open the file read-only. Read queries stand in ``queries/``.
"""
